import { expect, it } from 'vitest';
import { EarlyRefers } from '../../../src/domain/interpreter/dial/early-refers.ts';
import { SimClock } from '../../sim/clock.ts';

it('refuses REFERs beyond a limit while the parties are not connected', () => {
  const refused: number[] = [];
  const dealt: number[] = [];
  let referred: (refer: unknown) => void = () => undefined;
  const party = {
    observe: (observer: { referred: typeof referred }) => {
      referred = observer.referred;
      return () => undefined;
    },
  };
  const refers = new EarlyRefers([party as never], { clock: new SimClock() }, (refer) =>
    dealt.push((refer as unknown as { id: number }).id),
  );
  for (let id = 1; id <= 1000; id += 1) referred({ id, refuse: () => refused.push(id) });
  expect(refused).toHaveLength(990);
  refers.connected();
  expect(dealt).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});
