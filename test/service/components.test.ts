import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type Component, Components } from '../../src/service/components.ts';

/** Components that note their start and stop in `events`. Those in `failing` reject. */
function noted(failing: { readonly start?: string; readonly stop?: string } = {}) {
  const events: string[] = [];
  const note = (event: string, fails: boolean) => async () => {
    events.push(event);
    if (fails) throw new Error(event);
  };
  const list: Component[] = ['a', 'b', 'c'].map((name) => ({
    name,
    start: note(`start ${name}`, failing.start === name),
    stop: note(`stop ${name}`, failing.stop === name),
  }));
  return { events, components: new Components(list, silentLogger) };
}

describe('components', () => {
  it('start in order and stop once in reverse order', async () => {
    const { events, components } = noted();
    await components.start();
    await components.stop();
    await components.stop();
    expect(events).toEqual(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('stops the started ones if one fails to start', async () => {
    const { events, components } = noted({ start: 'c' });
    await expect(components.start()).rejects.toThrow('start c');
    expect(events).toEqual(['start a', 'start b', 'start c', 'stop b', 'stop a']);
  });

  it('stops all if one fails to stop, and reports the failure', async () => {
    const { events, components } = noted({ stop: 'b' });
    await components.start();
    await expect(components.stop()).rejects.toThrow('stop b');
    expect(events.slice(3)).toEqual(['stop c', 'stop b', 'stop a']);
  });
});
