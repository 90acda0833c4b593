import { describe, expect, it } from 'vitest';
import { Executor, type Runner } from '../../../src/edge/store/executor.ts';
import { atOnce, type Pace } from '../../../src/edge/store/pace.ts';
import type { Outcome, Unit } from '../../../src/edge/store/unit.ts';
import { START_US } from './records.ts';

const unit = (operation: string): Unit => ({
  repository: 'calls',
  operation,
  given: [],
  nowUs: START_US,
});

/** Answers each unit with its name, and records the batches. */
class Recorder implements Runner {
  readonly batches: string[][] = [];

  run(units: readonly Unit[]): Promise<readonly Outcome[]> {
    this.batches.push(units.map(({ operation }) => operation));
    return Promise.resolve(units.map(({ operation }) => ({ ok: true, value: operation })));
  }

  read({ operation }: Unit): Outcome {
    return { ok: true, value: `${operation} immediately` };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Delays deferred units until the test releases them. */
class HeldPace implements Pace {
  wake: (() => void) | undefined;

  turn(): Promise<void> {
    return Promise.resolve();
  }

  soon(wake: () => void): () => void {
    this.wake = wake;
    return () => {
      this.wake = undefined;
    };
  }
}

class ApartPace extends HeldPace {
  readonly keepsApart = true;
}

describe('a deferred unit', () => {
  it('is written after a short delay', async () => {
    const [runner, pace] = [new Recorder(), new HeldPace()];
    const executor = new Executor(runner, pace);
    const settled = executor.submit(unit('settle'), 'soon');
    const removed = executor.submit(unit('remove'), 'soon');
    await Promise.resolve();
    expect(runner.batches).toEqual([]);
    pace.wake?.();
    expect(await Promise.all([settled, removed])).toEqual(['settle', 'remove']);
    expect(runner.batches).toEqual([['settle', 'remove']]);
  });

  it('joins the next transaction, in order', async () => {
    const [runner, pace] = [new Recorder(), new HeldPace()];
    const executor = new Executor(runner, pace);
    const settled = executor.submit(unit('settle'), 'soon');
    await executor.submit(unit('open'), 'write');
    expect(await settled).toBe('settle');
    expect(runner.batches).toEqual([['settle', 'open']]);
    expect(pace.wake).toBeUndefined();
  });

  it('is written with other deferred units in a separate transaction, if the pace requests that', async () => {
    const [runner, pace] = [new Recorder(), new ApartPace()];
    const executor = new Executor(runner, pace);
    const first = executor.submit(unit('settle'), 'soon');
    await executor.submit(unit('open'), 'write');
    const second = executor.submit(unit('remove'), 'soon');
    expect([executor.waiting, runner.batches]).toEqual([2, [['open']]]);
    const third = executor.submit(unit('update'), 'write');
    pace.wake?.();
    expect(await Promise.all([first, second, third])).toEqual(['settle', 'remove', 'update']);
    // A deferred unit never runs before an earlier one, such as the open record of a call that is settled.
    expect(runner.batches).toEqual([['open'], ['update', 'settle', 'remove']]);
    expect(executor.waiting).toBe(0);
    const last = executor.submit(unit('settle'), 'soon');
    pace.wake?.();
    expect(await last).toBe('settle');
  });

  it('is written immediately when many are waiting', async () => {
    const [runner, pace] = [new Recorder(), new ApartPace()];
    const executor = new Executor(runner, pace);
    const all = Array.from({ length: 250 }, () => executor.submit(unit('settle'), 'soon'));
    await Promise.all(all.slice(0, 200));
    expect(runner.batches.flat()).toHaveLength(200);
    expect(executor.waiting).toBe(50);
    await executor.close();
    await Promise.all(all);
  });

  it('is written immediately when a caller waits for all writes', async () => {
    const [runner, pace] = [new Recorder(), new ApartPace()];
    const executor = new Executor(runner, pace);
    await executor.written();
    void executor.submit(unit('settle'), 'soon');
    void executor.submit(unit('remove'), 'soon');
    await executor.written();
    expect(runner.batches).toEqual([['settle', 'remove']]);
    // The wait includes units of the current batch.
    void executor.submit(unit('settle'), 'soon');
    pace.wake?.();
    await executor.written();
    expect(runner.batches).toHaveLength(2);
    expect(executor.waiting).toBe(0);
  });

  it('is written before the store closes', async () => {
    const [runner, pace] = [new Recorder(), new HeldPace()];
    const executor = new Executor(runner, pace);
    const settled = executor.submit(unit('settle'), 'soon');
    await executor.close();
    expect(await settled).toBe('settle');
  });
});

describe('a short read', () => {
  it('is answered immediately while units wait', async () => {
    const [runner, pace] = [new Recorder(), new HeldPace()];
    const executor = new Executor(runner, pace);
    const settled = executor.submit(unit('settle'), 'soon');
    expect(await executor.submit(unit('get'), 'point')).toBe('get immediately');
    expect(runner.batches).toEqual([]);
    pace.wake?.();
    await settled;
  });

  it('is refused after the store is closed', async () => {
    const executor = new Executor(new Recorder(), atOnce);
    await executor.close();
    await expect(executor.submit(unit('get'), 'point')).rejects.toThrow('the store is closed');
  });
});

/** Runs units ahead while allowed, and adds them to the next batch. */
class AheadRunner extends Recorder {
  ahead: string[] = [];
  mayRun = true;

  get uncommitted(): number {
    return this.ahead.length;
  }

  runAhead({ operation }: Unit): Outcome | undefined {
    if (!this.mayRun) return undefined;
    this.ahead.push(operation);
    return { ok: true, value: `${operation} ahead`, lowBalance: operation === 'last' };
  }

  override run(units: readonly Unit[]): Promise<readonly Outcome[]> {
    this.batches.push(this.ahead.map((operation) => `${operation} ahead`));
    this.ahead = [];
    return super.run(units);
  }
}

describe('a unit answered before its commit', () => {
  it('is committed with the next transaction, or after a short delay', async () => {
    const [runner, pace] = [new AheadRunner(), new ApartPace()];
    const executor = new Executor(runner, pace);
    expect(await executor.submit(unit('open'), 'ahead')).toBe('open ahead');
    expect(runner.batches).toEqual([]);
    await executor.submit(unit('update'), 'write');
    expect(runner.batches).toEqual([['open ahead'], ['update']]);
    await executor.submit(unit('open'), 'ahead');
    pace.wake?.();
    await executor.between(() => Promise.resolve());
    expect(runner.batches.slice(2)).toEqual([['open ahead'], []]);
  });

  it('is committed before an action between two batches, and waits like other units during it', async () => {
    const [runner, pace] = [new AheadRunner(), new ApartPace()];
    const executor = new Executor(runner, pace);
    void executor.submit(unit('open'), 'ahead');
    let later: Promise<unknown> | undefined;
    await executor.between(async () => {
      expect(runner.uncommitted).toBe(0);
      later = executor.submit(unit('open'), 'ahead');
      expect(runner.uncommitted).toBe(0);
    });
    expect(await later).toBe('open');
  });

  it('is written like other units if it cannot run ahead', async () => {
    const [runner, pace] = [new AheadRunner(), new ApartPace()];
    runner.mayRun = false;
    expect(await new Executor(runner, pace).submit(unit('open'), 'ahead')).toBe('open');
    const bare = new Executor(new Recorder(), pace);
    expect(await bare.submit(unit('open'), 'ahead')).toBe('open');
  });

  it('is committed immediately when many are pending, and before the store closes', async () => {
    const [runner, pace] = [new AheadRunner(), new ApartPace()];
    const executor = new Executor(runner, pace);
    for (let index = 0; index < 100; index += 1) void executor.submit(unit('open'), 'ahead');
    await executor.submit(unit('update'), 'write');
    expect(runner.batches[0]).toHaveLength(100);
    void executor.submit(unit('open'), 'ahead');
    await executor.close();
    expect(runner.batches.at(-2)).toEqual(['open ahead']);
  });

  it('reports a low balance after the commit', async () => {
    const [runner, pace] = [new AheadRunner(), new ApartPace()];
    let reported = 0;
    const executor = new Executor(runner, pace, {
      onLowBalance: () => {
        reported += 1;
      },
    });
    await executor.submit(unit('last'), 'ahead');
    expect(reported).toBe(0);
    await executor.submit(unit('update'), 'write');
    await executor.submit(unit('update'), 'write');
    expect(reported).toBe(1);
  });
});
