/** Reads settings without the service. Loaded on demand, because parsing carriers loads the REST schemas. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { examineSettings } from '../config/load.ts';
import { checkedForStart } from '../service/checks/start.ts';
import { checked } from '../service/reload.ts';

export { settingsAsJson, settingsAsYaml } from '../config/show.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Returns the settings that the service would start with, from the settings file and the environment of this process. */
export function examineHere(
  environment: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
) {
  const examined = settingsOf(environment, file);
  const { lists, problems } = checked(examined, ROOT);
  return { ...examined, lists, problems };
}

const settingsOf = (
  environment: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
) =>
  examineSettings(
    file === undefined ? environment : { ...environment, CARILLON_CONFIG: file },
    join(ROOT, 'config', 'default.json'),
  );

/** Also runs the checks of this machine that a start runs: addresses and the data folder. */
export async function checkHere(
  environment: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
) {
  return checkedForStart(settingsOf(environment, file), ROOT);
}
