import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asCallUuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/cdr.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { openAt } from '../edge/store/open.ts';
import { anAccount, anEntry } from '../edge/store/records.ts';

const ACCOUNT = anAccount().authId;
const CREDIT = 1_000_000_000_000;
export const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

/** Opens the store with true randomness, so that different processes never create the same IDs. */
export const openOnce = (folder: string, synchronous: 'normal' | 'full' = 'normal') =>
  openAt(folder, undefined, systemRandom, synchronous);

/** Creates an account with enough credit for all rounds. */
export async function prepare(folder: string): Promise<void> {
  const { store } = await openOnce(folder);
  await store.accounts.create(anAccount(), 'token');
  await store.ledger.post([anEntry({ amount: micros(CREDIT) })], { checked: false });
  await store.close();
}

/** Durable writes that the child reported before it died. */
export interface Witness {
  readonly answered: readonly string[];
  readonly settled: readonly string[];
}

/** Runs a child that bills calls in `folder`, and kills it after it has printed `lines` lines. */
export async function billUntilKilled(
  folder: string,
  round: number,
  lines: number,
): Promise<Witness> {
  const child = spawn(process.execPath, [CHILD, folder, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    said += text;
    if (said.split('\n').length > lines + 1) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  return witnessOf(said);
}

/** Reads the output of the child up to its last whole line. */
export function witnessOf(said: string): Witness {
  const whole = said.slice(0, Math.max(said.lastIndexOf('\n'), 0)).split('\n');
  const of = (word: string): readonly string[] =>
    whole.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return { answered: of('answered'), settled: of('settled') };
}

/** Starts again from the stored state and returns all faults. */
export async function findFaults(folder: string, witness: Witness): Promise<readonly string[]> {
  const { store } = await openOnce(folder);
  const recovered = await recoverOpenCalls(store.calls, silentLogger);
  const again = await recoverOpenCalls(store.calls, silentLogger);
  const faults: string[] = [];
  if (again.length > 0) faults.push(`${again.length} calls recovered twice`);
  for (const fault of await store.verify()) faults.push(`ledger: ${JSON.stringify(fault)}`);
  for (const callUuid of [...witness.answered, ...witness.settled]) {
    if ((await store.cdrs.get(asCallUuid(callUuid))) === undefined)
      faults.push(`no record of ${callUuid}`);
  }
  for (const cdr of recovered) {
    if (cdr.answerUs !== undefined && cdr.cost === 0) faults.push(`${cdr.callUuid} not billed`);
  }
  faults.push(...(await moneyFaults(store)));
  await store.close();
  return faults;
}

/** Verifies that the balance is the credit minus all costs, no money is held, and each call has its notification. */
async function moneyFaults(store: Store): Promise<readonly string[]> {
  const faults: string[] = [];
  const balance = await store.ledger.balance(ACCOUNT, 'USD');
  const sums = await store.cdrs.summary({ accountId: ACCOUNT });
  if (balance === undefined) return ['the balance is gone'];
  if (balance.reservedFunds !== 0) faults.push(`still held: ${balance.reservedFunds}`);
  if (balance.balance !== CREDIT - sums.totalCost) {
    faults.push(`balance ${balance.balance}, records cost ${sums.totalCost}`);
  }
  const notifications = await store.notifications.listPending(Number.MAX_SAFE_INTEGER);
  if (notifications.length !== sums.totalCalls) {
    faults.push(`${notifications.length} notifications for ${sums.totalCalls} calls`);
  }
  return faults;
}
