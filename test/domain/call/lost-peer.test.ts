/** A peer whose WebSocket has closed: its call ends once its media has stopped too. */
import { beforeEach, describe, expect, it } from 'vitest';
import { LostPeer } from '../../../src/domain/call/lost-peer.ts';
import { SimClock } from '../../sim/clock.ts';

describe('a peer whose connection has closed', () => {
  let clock: SimClock;
  let packets: number;
  let held: boolean;
  let gone: number | undefined;
  let peer: LostPeer;

  beforeEach(() => {
    clock = new SimClock();
    [packets, held, gone] = [0, false, undefined];
    peer = new LostPeer({
      clock,
      log: { add: () => undefined },
      packetsReceived: () => packets,
      isHeld: () => held,
      gone: (sinceMs) => {
        gone = sinceMs;
      },
    });
  });

  /** Moves time on while the peer sends 50 packets a second. */
  async function talk(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      packets += 5;
      await clock.advance(100);
    }
  }

  it('is gone within 3 s of its last packet, as of the close', async () => {
    peer.connection(false);
    const closedMs = clock.monotonicMs();
    await clock.advance(2000);
    expect(gone).toBeUndefined();
    await clock.advance(1000);
    expect(gone).toBe(closedMs);
  });

  it('stays while its media continues, and is gone as of its last packet', async () => {
    peer.connection(false);
    await talk(20_000);
    expect(gone).toBeUndefined();
    const lastMs = clock.monotonicMs();
    await clock.advance(4500);
    expect(Math.abs((gone ?? 0) - lastMs)).toBeLessThanOrEqual(500);
  });

  it('stays when it connects again in time', async () => {
    peer.connection(false);
    await clock.advance(2000);
    peer.connection(true);
    await clock.advance(60_000);
    expect(gone).toBeUndefined();
  });

  it('has longer while it holds the call', async () => {
    held = true;
    peer.connection(false);
    await clock.advance(29_000);
    expect(gone).toBeUndefined();
    await clock.advance(2000);
    expect(gone).toBeDefined();
  });
});
