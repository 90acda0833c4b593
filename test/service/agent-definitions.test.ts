import { describe, expect, it } from 'vitest';
import { agentAccess } from '../../src/service/agent-definitions.ts';
import { seededRandom } from '../domain/callback/fake-http.ts';

const access = agentAccess({
  random: seededRandom(),
  environment: { OPENAI_API_KEY: 'sk-test' },
  isAllowed: () => true,
  egress: { refuses: () => undefined },
});

/** A definition whose tool has a schema with `levels` nested objects. */
function nested(levels: number): object {
  let parameters: object = { type: 'object' };
  for (let level = 0; level < levels; level += 1) parameters = { properties: parameters };
  const tool = { name: 'find', type: 'http', description: 'Finds.', url: 'https://a.example/' };
  const model = { type: 'openai-realtime' };
  return { instructions: 'Be brief.', model, tools: [{ ...tool, parameters }] };
}

describe('definitions of agents', () => {
  it('accepts a schema of usual depth', () => {
    expect(access.read(nested(20))).toMatchObject({ ok: true });
  });

  it.each([100, 5000, 500_000])('refuses a definition with %i nested objects', (levels) => {
    expect(access.read(nested(levels))).toEqual({
      ok: false,
      error: { agent: 'must be nested at most 100 levels deep' },
    });
  });

  it('refuses YAML with many nested lists', () => {
    const yaml = `instructions: a\ntools: ${'- '.repeat(1500)}x`;
    expect(access.read(yaml.replace('tools: ', 'tools:\n  '))).toMatchObject({ ok: false });
  });
});
