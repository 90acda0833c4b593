import type { Scenario } from '../scenario.ts';
import { figuresOf, flood, orderFor } from '../udp-flood.ts';

export const scenario: Scenario = {
  about: '7,000 INVITEs per second from the address of legitimate phones',
  async attack(field) {
    const order = orderFor(field, {
      perSecond: 7000,
      sources: ['127.0.0.1'],
      kinds: ['invite'],
    });
    return figuresOf(await flood(order), field.seconds);
  },
};
