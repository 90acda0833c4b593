import type { Scenario } from '../scenario.ts';
import { figuresOf, flood, manySources, orderFor } from '../udp-flood.ts';

export const scenario: Scenario = {
  about: '7,000 INVITEs per second from a thousand addresses',
  async attack(field) {
    const order = orderFor(field, {
      perSecond: 7000,
      sources: manySources(1000),
      kinds: ['invite'],
    });
    return figuresOf(await flood(order), field.seconds);
  },
};
