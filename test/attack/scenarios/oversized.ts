import type { Scenario } from '../scenario.ts';
import { figuresOf, flood, manySources, orderFor } from '../udp-flood.ts';

export const scenario: Scenario = {
  about: 'datagrams of 60 KB',
  async attack(field) {
    const order = orderFor(field, {
      perSecond: 500,
      sources: manySources(50),
      kinds: ['oversized'],
    });
    return figuresOf(await flood(order), field.seconds);
  },
};
