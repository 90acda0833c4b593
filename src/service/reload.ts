/** Applies new settings to a running service. Reports settings that need a restart. An invalid file changes nothing. */
import type { Logger } from '../base/logger.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Examined } from '../config/load.ts';
import { listSettings, type Settings } from '../config/schema.ts';
import { listShown, type ShownSetting } from '../config/show.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import type { Carriers, NewCarrier } from '../domain/provisioning/provisioning.ts';
import { edgeProblems } from './checks/edges.ts';
import { fileProblems } from './checks/files.ts';
import { readOperatorLists } from './operator-lists.ts';

export interface ReloadOutcome {
  /** Settings whose new value is applied. The files of `rates` and `carriers` are read again each time. */
  readonly changed: readonly string[];
  /** Settings that differ in the file and take effect after a restart. */
  readonly needsRestart: readonly string[];
  readonly rates: number;
  readonly carriers: number;
}

export interface ReloadParts {
  /** Settings of the running service. */
  readonly settings: Settings;
  readonly root: string;
  readonly logger: Logger & { setLevel(level: string): void };
  readonly ledger: Pick<Ledger, 'replaceListedRates'>;
  readonly carriers: Carriers;
  /** Reads file and environment again. */
  readonly examine: () => Examined;
}

export class Reloader {
  readonly #parts: ReloadParts;
  readonly #certificates: (() => void)[] = [];
  #running: Settings;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#running = parts.settings;
  }

  /**
   * Adds a function that reads a certificate again. It logs an invalid certificate and keeps the old one.
   */
  onCertificates(read: () => void): void {
    this.#certificates.push(read);
  }

  /** Returns the settings in force with their sources, and the problems of the current file and environment. */
  shown(): {
    readonly settings: readonly ShownSetting[];
    readonly problems: readonly string[];
  } {
    const examined = this.#parts.examine();
    return { settings: listShown(this.#running, examined), problems: examined.problems };
  }

  /** Reloads the settings. Calls are serialized. A refusal lists every problem; nothing has changed then. */
  reload(): Promise<Result<ReloadOutcome, readonly string[]>> {
    const next = this.#last.then(() => this.#reload());
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #reload(): Promise<Result<ReloadOutcome, readonly string[]>> {
    const { logger, ledger, carriers, root, examine } = this.#parts;
    const examined = examine();
    const { lists, problems } = checked(examined, root);
    if (problems.length > 0) {
      logger.error({ problems }, 'new settings refused, the current ones stay in force');
      return err(problems);
    }
    const { settings } = examined;
    const { changed, needsRestart } = compare(this.#running, settings);
    ledger.replaceListedRates(lists.rates);
    await storeCarriers(carriers, lists.carriers);
    for (const readAgain of this.#certificates) readAgain();
    const { logLevel, rates, carriers: carrierList } = settings;
    this.#running = { ...this.#running, logLevel, rates, carriers: carrierList };
    const outcome = {
      changed,
      needsRestart,
      rates: lists.rates.length,
      carriers: lists.carriers.length,
    };
    logger.setLevel(logLevel);
    logger.info(outcome, 'settings reloaded');
    if (needsRestart.length > 0)
      logger.warn({ settings: needsRestart }, 'these settings take effect after a restart');
    return ok(outcome);
  }
}

/** Runs every check that could prevent a start, before anything is opened. */
export function checked(examined: Examined, root: string) {
  const { settings } = examined;
  const { lists, problems } = readOperatorLists(settings, root);
  return {
    lists,
    problems: [
      ...examined.problems,
      ...problems,
      ...fileProblems(settings),
      ...edgeProblems(settings),
    ],
  };
}

function compare(running: Settings, next: Settings) {
  const changed: string[] = [];
  const needsRestart: string[] = [];
  for (const { path, setting } of listSettings()) {
    if (JSON.stringify(valueAt(running, path)) === JSON.stringify(valueAt(next, path))) continue;
    (setting.live ? changed : needsRestart).push(path.join('.'));
  }
  return { changed, needsRestart };
}

function valueAt(settings: Settings, path: readonly string[]): unknown {
  let value: unknown = settings;
  for (const key of path) value = (value as Record<string, unknown>)[key];
  return value;
}

/** Overwrites the carriers in the list. Others, created by `/admin/v1/carriers`, stay unchanged. */
export async function storeCarriers(
  carriers: Carriers,
  list: readonly NewCarrier[],
): Promise<void> {
  for (const carrier of list) {
    const created = await carriers.create(carrier);
    if (!created.ok) await carriers.patch(carrier.name, carrier);
  }
}
