import type { Scenario } from '../scenario.ts';
import { figuresOf, flood, manySources, orderFor } from '../udp-flood.ts';

export const scenario: Scenario = {
  about: 'garbage, and requests so short that a response would be longer',
  async attack(field) {
    const order = orderFor(field, {
      perSecond: 3000,
      sources: manySources(100),
      kinds: ['garbage', 'tiny', 'tiny', 'register'],
    });
    return figuresOf(await flood(order), field.seconds);
  },
};
