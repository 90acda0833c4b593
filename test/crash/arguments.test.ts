import { describe, expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

describe('npm run crash', () => {
  it.each([
    [[], { points: 1000, seed: 1, only: undefined }],
    [['300', '7'], { points: 300, seed: 7, only: undefined }],
    [['300', '1', 'disk'], { points: 300, seed: 1, only: 'disk' }],
  ])('accepts %j', (given, expected) => {
    expect(readArguments(given)).toEqual(expected);
  });

  it.each([
    [['disk']],
    [['0']],
    [['1.5']],
    [['10', 'x']],
    [['10', '1', 'disc']],
    [['1000', '10', '1', 'disk']],
  ])('refuses %j', (given) => {
    expect(readArguments(given)).toBeUndefined();
  });
});
