import { setTimeout as pause } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';

const GUESSERS = 8;
const ASK_EVERY_MS = 50;

export const scenario: Scenario = {
  about: 'guessed REST tokens from the address of legitimate clients',
  async attack({ service, over }) {
    const { authId } = service.demo;
    const url = `${service.baseUrl}/api/v1/Account/${authId}/balance/USD`;
    let guesses = 0;
    const guess = async (): Promise<void> => {
      while (!over.aborted) {
        guesses += 1;
        const headers = { 'x-auth-id': authId, 'x-auth-token': `guess ${guesses}` };
        const response = await fetch(url, { headers });
        await response.arrayBuffer();
      }
    };
    const guessing = Promise.all(Array.from({ length: GUESSERS }, guess));
    const served: boolean[] = [];
    while (!over.aborted) {
      served.push((await service.api('GET', 'balance/USD')).status === 200);
      await pause(ASK_EVERY_MS);
    }
    await guessing;
    return [
      { name: 'guesses', value: guesses, unit: '' },
      {
        name: 'valid requests served',
        value: (100 * served.filter(Boolean).length) / served.length,
        unit: '%',
        atLeast: 99,
      },
    ];
  },
};
