/** Parses `key=value` arguments by the request schema: conversion of values, and field descriptions in `--help`. */
import { expect, it } from 'vitest';
import { assigned } from '../../src/cli/fields.ts';
import { CarrierBody } from '../../src/edge/rest/admin/carrier-fields.ts';
import { TestTerminal } from './terminal.ts';

const carrier = (...pairs: string[]) => assigned(pairs, async () => CarrierBody);

it('accepts a list with commas, as JSON, or as one value', async () => {
  expect(await carrier('source_addresses=192.0.2.1', 'prefixes=1, 44')).toEqual({
    source_addresses: ['192.0.2.1'],
    prefixes: ['1', '44'],
  });
  expect(await carrier('prefixes=["1","44"]', 'windows=')).toEqual({
    prefixes: ['1', '44'],
    windows: [],
  });
});

it('keeps digits as text in text fields, and parses them as numbers elsewhere', async () => {
  expect(await carrier('prepend=011', 'prepend=11', 'port=5080', 'secure=true')).toEqual({
    prepend: '11',
    port: 5080,
    secure: true,
  });
});

it('accepts null and JSON objects, and passes other values to the service unchanged', async () => {
  expect(await carrier('stir=null', 'costs={"49":0.01}', 'costs={"49"', 'no_such=7')).toEqual({
    stir: null,
    costs: '{"49"',
    no_such: 7,
  });
  await expect(carrier('port')).rejects.toThrow('expected key=value, not port');
});

it('lists every field with its permitted values and meaning in --help', async () => {
  const terminal = new TestTerminal();
  await terminal.run(['carriers', 'add', '--help'], {});
  const help = terminal.out.join('\n');
  // The name is a positional argument.
  for (const name of Object.keys(CarrierBody.properties).filter((field) => field !== 'name'))
    expect(help).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
  expect(help).toMatch(/transport +udp\|tcp\|tls +default udp/);
  expect(help).toMatch(/port +1…65535 +null: NAPTR and SRV lookup of the host/);
});
