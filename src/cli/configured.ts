/** Reads a setting that commands need. Loaded on demand, because most commands are used without a settings file. */
import { fileURLToPath } from 'node:url';
import { type Environment, examineSettings } from '../config/load.ts';

const DEFAULTS = fileURLToPath(new URL('../../config/default.json', import.meta.url));

/** Returns the data folder that the service uses with these settings. */
export const configuredFolder = (environment: Environment): string =>
  examineSettings(environment, DEFAULTS).settings.dataDir;
