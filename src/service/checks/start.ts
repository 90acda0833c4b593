/** Requirements of a start: settings and machine. `--check-config` and the start itself run the same checks. */
import type { Examined } from '../../config/load.ts';
import type { Settings } from '../../config/schema.ts';
import type { OperatorLists } from '../operator-lists.ts';
import { checked } from '../reload.ts';
import { addressProblems } from './addresses.ts';
import { dataFolderProblem } from './data-folder.ts';

/** Problems: one line each. Opens no port and leaves nothing behind. `root`: the project's folder. */
export async function checkedForStart(
  examined: Examined,
  root: string,
): Promise<{ readonly lists: OperatorLists; readonly problems: readonly string[] }> {
  const { lists, problems } = checked(examined, root);
  // Wrong settings have their defaults here, which need not fit this machine.
  if (problems.length > 0) return { lists, problems };
  return { lists, problems: await machineProblems(examined.settings) };
}

async function machineProblems(settings: Settings): Promise<readonly string[]> {
  const folder = dataFolderProblem(settings.dataDir);
  return [...(folder === undefined ? [] : [folder]), ...(await addressProblems(settings))];
}
