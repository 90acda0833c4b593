/** Entry point of the threads that wait for PostgreSQL. */
import { workerData } from 'node:worker_threads';
import { systemRandom } from '../../../base/system-random.ts';
import { serve } from '../serve.ts';
import { PostgresEngine, type PostgresEngineOptions } from './engine.ts';

serve((notify) => {
  const options = workerData as Omit<PostgresEngineOptions, 'random'>;
  const engine = new PostgresEngine({ ...options, random: systemRandom }, (hears) =>
    notify({ kind: 'told', hears }),
  );
  return {
    uncleanStart: false,
    handle(request) {
      switch (request.kind) {
        case 'run':
          return { kind: 'outcomes', outcomes: engine.run(request.units) };
        case 'heard':
          return { kind: 'heard', changed: engine.received() };
        case 'close':
          engine.close();
          return { kind: 'done' };
        default:
          throw new Error(`a PostgreSQL thread does not support ${request.kind}`);
      }
    },
  };
});
