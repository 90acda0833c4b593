/** Forwards dialer operations to the node that dials for the cluster. */
import type { AccountId } from '../../base/ids.ts';
import type { Bus, NodeStore } from '../cluster/needs.ts';
import type { DialerControl, Obstacle } from './service-needs.ts';
import type { Agent, Campaign, CampaignHealth, PauseReason, RunningCampaign } from './types.ts';

export interface SharedDialerNeeds {
  readonly own: DialerControl;
  readonly bus: Bus;
  readonly nodes: Pick<NodeStore, 'holder'>;
  readonly nodeId: string;
}

export class SharedDialer implements DialerControl {
  readonly #needs: SharedDialerNeeds;

  constructor(needs: SharedDialerNeeds) {
    this.#needs = needs;
    const { own, bus } = needs;
    bus.answer('dialer.start', (campaign: Campaign) => own.start(campaign));
    bus.answer('dialer.pause', (campaign: Campaign, why: PauseReason) => own.pause(campaign, why));
    bus.answer('dialer.resume', (campaign: Campaign) => own.resume(campaign));
    bus.answer('dialer.obstacle', (campaign: Campaign) => own.obstacle(campaign));
    bus.answer('dialer.running', (accountId: AccountId) => own.running(accountId));
    bus.answer('dialer.changed', (campaign: Campaign) => own.changed(campaign));
    bus.answer('dialer.agentChanged', (agent: Agent) => own.agentChanged(agent));
  }

  start(campaign: Campaign): Promise<Campaign | undefined> {
    return this.#there('start', [campaign], () => this.#needs.own.start(campaign));
  }

  pause(campaign: Campaign, reason: PauseReason): Promise<Campaign | undefined> {
    return this.#there('pause', [campaign, reason], () => this.#needs.own.pause(campaign, reason));
  }

  resume(campaign: Campaign): Promise<Campaign | undefined> {
    return this.#there('resume', [campaign], () => this.#needs.own.resume(campaign));
  }

  obstacle(campaign: Campaign): Promise<Obstacle | undefined> {
    return this.#there('obstacle', [campaign], () => this.#needs.own.obstacle(campaign));
  }

  changed(campaign: Campaign): Promise<void> {
    return this.#there('changed', [campaign], () => this.#needs.own.changed(campaign));
  }

  agentChanged(agent: Agent): Promise<void> {
    return this.#there('agentChanged', [agent], () => this.#needs.own.agentChanged(agent));
  }

  /** Computed from stored data, because only the dialing node knows the number of live calls. */
  health(campaign: Campaign): CampaignHealth {
    return this.#needs.own.health(campaign);
  }

  running(accountId: AccountId): Promise<readonly RunningCampaign[]> {
    return this.#there('running', [accountId], () => this.#needs.own.running(accountId));
  }

  /**
   * Runs an operation on the dialing node. Without one, this node runs it, and the next dialing node reads the result
   * from the store.
   */
  async #there<T>(what: string, given: readonly unknown[], here: () => Promise<T>): Promise<T> {
    const { nodes, nodeId, bus } = this.#needs;
    const holder = await nodes.holder('campaigns');
    if (holder === undefined || holder.id === nodeId) return here();
    return (await bus.ask(holder.id, `dialer.${what}`, given)) as T;
  }
}
