import type { Scenario } from '../scenario.ts';
import { figuresOf, flood, manySources, orderFor } from '../udp-flood.ts';

export const scenario: Scenario = {
  about:
    'guessed passwords in REGISTER, from many addresses and the legitimate one, with forged nonces',
  async attack(field) {
    const order = orderFor(field, {
      perSecond: 2000,
      sources: ['127.0.0.1', ...manySources(100)],
      kinds: ['guess'],
      username: field.username,
    });
    return figuresOf(await flood(order), field.seconds);
  },
};
