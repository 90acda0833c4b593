/** Settings without the service. Loaded when asked for: reading carriers brings the schemas of the REST interface along. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { examineSettings } from '../config/load.ts';
import { checked } from '../service/reload.ts';

export { settingsAsJson, settingsAsYaml } from '../config/show.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The settings that the service would start with: file and environment of whoever asks. */
export function examineHere(
  environment: Readonly<Record<string, string | undefined>>,
  file: string | undefined,
) {
  const examined = examineSettings(
    file === undefined ? environment : { ...environment, CARILLON_CONFIG: file },
    join(ROOT, 'config', 'default.json'),
  );
  const { lists, problems } = checked(examined, ROOT);
  return { ...examined, lists, problems };
}
