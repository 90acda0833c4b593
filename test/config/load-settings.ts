import { examineSettings, refuseProblems } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/schema.ts';

/** Effective settings of this environment, as the service starts with. Throws the first problem. */
export function loadSettings(
  environment: Readonly<Record<string, string | undefined>>,
  defaultFile: string,
): Settings {
  const { settings, problems } = examineSettings(environment, defaultFile);
  refuseProblems(problems);
  return settings;
}
