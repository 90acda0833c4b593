import { expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../../src/base/errors.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemRandom } from '../../../src/base/system-random.ts';
import { toError } from '../../../src/edge/store/failure.ts';
import { migrate } from '../../../src/edge/store/migrate.ts';
import { SqliteConnection } from '../../../src/edge/store/sqlite.ts';
import { StoreReports } from '../../../src/edge/store/store-parts.ts';
import { UnitRunner } from '../../../src/edge/store/units.ts';
import { ephemeralKey, Vault } from '../../../src/edge/store/vault.ts';
import { SimClock } from '../../sim/clock.ts';
import { anAccount, START_US } from './records.ts';

/** Loses its connection during the commit, like a connection to PostgreSQL. */
class LosingConnection extends SqliteConnection {
  override commit(): void {
    super.commit();
    throw new Error('the connection broke during the commit');
  }

  override meaningOf(): 'unknown' {
    return 'unknown';
  }
}

/** Conflicts with the transactions of other nodes, like PostgreSQL. */
class ConflictingConnection extends SqliteConnection {
  conflicts = 0;

  override commit(): void {
    this.conflicts -= 1;
    if (this.conflicts >= 0) throw new Error('could not serialize access');
    super.commit();
  }

  override meaningOf(): 'again' {
    return 'again';
  }
}

const options = {
  file: ':memory:',
  readonly: false,
  synchronous: 'normal',
  checkpoints: 'here',
  vault: new Vault(ephemeralKey()),
  random: systemRandom,
} as const;

const unit = {
  repository: 'accounts',
  operation: 'create',
  given: [anAccount(), 'token'],
  nowUs: START_US,
};

it.each([
  [4, true],
  [5, false],
])('runs units again after %i conflicts: done %s', (conflicts, isDone) => {
  const db = new ConflictingConnection(options);
  migrate(db);
  const count = (): unknown => db.get('SELECT count(*) AS n FROM account', [])?.['n'];
  const runner = new UnitRunner(db);
  db.conflicts = 1;
  expect(runner.together([unit])).toBeUndefined();
  db.conflicts = conflicts;
  expect(runner.apart([unit]).map(({ ok }) => ok)).toEqual([isDone]);
  expect(count()).toBe(isDone ? 1 : 0);
  db.close();
});

it('reports a write that failed during its commit as possibly done', () => {
  const db = new LosingConnection(options);
  migrate(db);
  const runner = new UnitRunner(db);
  for (const outcomes of [runner.together([unit]), runner.apart([unit])]) {
    const [outcome] = outcomes ?? [];
    if (outcome === undefined || outcome.ok) throw new Error('the unit did not fail');
    expect(toError({ ...outcome.failure, code: 'STORE_BUSY' })).toBeInstanceOf(UnknownOutcomeError);
  }
  db.close();
});

it('announces a unit whose outcome is unknown', async () => {
  const reports = new StoreReports({
    dataDir: '',
    synchronous: 'normal',
    logger: silentLogger,
    clock: new SimClock(),
    random: systemRandom,
  });
  const lost = new UnknownOutcomeError('STORE_BUSY', 'lost');
  const store = reports.operations(reports.watched(() => Promise.reject(lost)));
  let announced = 0;
  store.onUnknownOutcome(() => {
    announced += 1;
  });
  await expect(store.settings.set('key', 'value')).rejects.toBe(lost);
  expect(announced).toBe(1);
});
