/** A Chromium in a separate network namespace with two links that the test controls. */
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Address ranges for benchmark networks (RFC 2544), which have no route on this machine. */
const WAYS = ['198.18.77', '198.18.78'] as const;
const FREE_TABLE = '177';

export const canHaveNetworks = (): boolean =>
  process.getuid?.() === 0 && spawnSync('ip', ['netns', 'list']).status === 0;

export class OwnNetwork {
  readonly #name = `carillon-${process.pid}`;
  /** Host address of the machine, as seen from inside the namespace. */
  readonly host = `${WAYS[0]}.1`;

  constructor() {
    this.#ip('netns', 'add', this.#name);
    this.#inside('link', 'set', 'lo', 'up');
    for (const [index, way] of WAYS.entries()) {
      const [outer, inner] = this.#ends(index);
      this.#ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner);
      this.#ip('link', 'set', inner, 'netns', this.#name);
      this.#ip('address', 'add', `${way}.1/24`, 'dev', outer);
      this.#ip('link', 'set', outer, 'up');
      this.#inside('address', 'add', `${way}.2/24`, 'dev', inner);
    }
    this.#open(0);
  }

  /** Removes the first link and adds the second, as when a client changes its wireless network. */
  change(): void {
    this.#inside('link', 'set', this.#ends(0)[1], 'down');
    this.#open(1);
    this.#inside('route', 'add', `${this.host}/32`, 'via', `${WAYS[1]}.1`);
  }

  /** Blocks UDP from now on, so that only TCP passes. */
  blockUdp(): void {
    this.#inside('route', 'add', 'blackhole', 'default', 'table', FREE_TABLE);
    this.#inside('rule', 'add', 'ipproto', 'udp', 'table', FREE_TABLE);
  }

  /** Starts Chromium in the namespace. `folder` holds the start script. */
  browser(folder: string, args: readonly string[] = []): Promise<Browser> {
    const starter = join(folder, 'chromium-inside');
    writeFileSync(starter, `#!/bin/sh\nexec ip netns exec ${this.#name} chromium "$@"\n`);
    chmodSync(starter, 0o755);
    return chromium.launch({ executablePath: starter, args: [...args] });
  }

  remove(): void {
    for (const index of WAYS.keys()) spawnSync('ip', ['link', 'del', this.#ends(index)[0]]);
    spawnSync('ip', ['netns', 'del', this.#name]);
  }

  #ends(index: number): readonly [outer: string, inner: string] {
    return [`car${process.pid}o${index}`.slice(-15), `car${process.pid}i${index}`.slice(-15)];
  }

  #open(index: number): void {
    this.#inside('link', 'set', this.#ends(index)[1], 'up');
    this.#inside('route', 'add', 'default', 'via', `${WAYS[index] ?? ''}.1`);
  }

  #inside(...args: readonly string[]): void {
    this.#ip('-n', this.#name, ...args);
  }

  #ip(...args: readonly string[]): void {
    const run = spawnSync('ip', args, { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`ip ${args.join(' ')}: ${run.stderr}`);
  }
}
