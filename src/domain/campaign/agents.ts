/** Manages agents: the documents that campaigns connect their calls to. */
import { wallUs } from '../../base/clock.ts';
import type { AgentId } from '../../base/ids.ts';
import { newAgentId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { owns } from './ownership.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type { Agent, AgentPatch, CampaignOwner, CampaignRefusal, NewAgent } from './types.ts';

type Answer<T> = Promise<Result<T, CampaignRefusal>>;

const UNKNOWN: Result<never, CampaignRefusal> = err({ kind: 'unknownAgent' });

export class Agents {
  readonly #needs: Pick<CampaignServiceNeeds, 'store' | 'dialer' | 'clock' | 'random'>;

  constructor(needs: Pick<CampaignServiceNeeds, 'store' | 'dialer' | 'clock' | 'random'>) {
    this.#needs = needs;
  }

  async create(owner: CampaignOwner, agent: NewAgent): Answer<Agent> {
    const { store, clock, random } = this.#needs;
    const nowUs = wallUs(clock);
    const created = {
      ...agent,
      ...owner,
      id: newAgentId(random),
      createdUs: nowUs,
      updatedUs: nowUs,
    };
    await store.insertAgent(created);
    return ok(created);
  }

  async get(owner: CampaignOwner, id: AgentId): Answer<Agent> {
    const agent = await this.#needs.store.agent(id);
    return agent !== undefined && owns(owner, agent) ? ok(agent) : UNKNOWN;
  }

  async update(owner: CampaignOwner, id: AgentId, patch: AgentPatch): Answer<Agent> {
    const known = await this.get(owner, id);
    if (!known.ok) return known;
    const changed = await this.#needs.store.patchAgent(id, patch);
    if (changed === undefined) return UNKNOWN;
    await this.#needs.dialer.agentChanged(changed);
    return ok(changed);
  }

  async remove(owner: CampaignOwner, id: AgentId): Answer<void> {
    const known = await this.get(owner, id);
    if (!known.ok) return known;
    const removed = await this.#needs.store.removeAgent(id);
    return removed.ok ? removed : err({ kind: removed.error });
  }
}
