import { changedMembers } from '../../../../base/changed-members.ts';
import { err, ok } from '../../../../base/result.ts';
import type { NewAgent } from '../../../../domain/campaign/types.ts';
import { invalidField } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, agentIdText, sliceQuery, Type } from '../../http/schema.ts';
import { answered, refused } from '../../refusal.ts';
import {
  AgentCreateBody,
  AgentSchema,
  AgentUpdateBody,
  agentHeaderProblem,
  changedAgent,
  newAgent,
  showAgent,
} from '../../wire/campaign-agent.ts';
import { sliceOf } from '../../wire/list.ts';
import { ACCOUNTS, accountParams, common, ownerOf } from './scope.ts';

const params = Type.Object({ auth_id: accountIdText(), agent_id: agentIdText() });

const createAgent = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'POST',
    path: root,
    summary: 'Create an agent, which handles the answered calls of campaigns',
    status: 201,
    params: accountParams,
    body: AgentCreateBody,
    reply: AgentSchema,
    async run({ campaigns }, input) {
      const problem = agentHeaderProblem(input.body);
      if (problem !== undefined) return err(invalidField(...problem));
      return answered(await campaigns.createAgent(ownerOf(input), newAgent(input.body)), showAgent);
    },
  });

const listAgents = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: root,
    summary: 'List agents',
    params: accountParams,
    query: Type.Object(sliceQuery),
    reply: Type.Object({ objects: Type.Array(AgentSchema), total: Type.Integer() }),
    async run({ campaigns }, input) {
      const { items, total } = await campaigns.agents(ownerOf(input), sliceOf(input.query));
      return ok({ objects: items.map(showAgent), total });
    },
  });

const getAgent = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'GET',
    path: `${root}/{agent_id}`,
    summary: 'Get an agent',
    params,
    reply: AgentSchema,
    run: async ({ campaigns }, input) =>
      answered(await campaigns.agent(ownerOf(input), input.params.agent_id), showAgent),
  });

const updateAgent = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'PUT',
    path: `${root}/{agent_id}`,
    summary: 'Update an agent. Absent fields stay unchanged',
    params,
    body: AgentUpdateBody,
    reply: AgentSchema,
    async run({ campaigns }, input) {
      const problem = agentHeaderProblem(input.body);
      if (problem !== undefined) return err(invalidField(...problem));
      const { agent_id: id } = input.params;
      const known = await campaigns.agent(ownerOf(input), id);
      if (!known.ok) return refused(known.error);
      const changes = changedMembers<NewAgent>(known.value, changedAgent(known.value, input.body));
      return answered(await campaigns.updateAgent(ownerOf(input), id, changes), showAgent);
    },
  });

const deleteAgent = (root: string): Route =>
  accountRoute({
    ...common,
    method: 'DELETE',
    path: `${root}/{agent_id}`,
    alsoRefuses: [409],
    summary: 'Delete an agent. Refused while unfinished campaigns use it',
    status: 204,
    params,
    run: async ({ campaigns }, input) =>
      answered(await campaigns.removeAgent(ownerOf(input), input.params.agent_id), () => undefined),
  });

export const agentRoutes: readonly Route[] = ACCOUNTS.flatMap((account) => {
  const root = `${account}/campaign/agents`;
  return [
    createAgent(root),
    listAgents(root),
    getAgent(root),
    updateAgent(root),
    deleteAgent(root),
  ];
});
