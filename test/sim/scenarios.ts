/** All scenarios in the order of execution. */
import type { Scenario } from './scenario.ts';
import { callScenarios } from './scenarios/calls.ts';
import { campaignScenarios } from './scenarios/campaigns.ts';
import { crowdScenarios } from './scenarios/crowd.ts';
import { dialScenarios } from './scenarios/dial.ts';
import { elementScenarios } from './scenarios/elements.ts';
import { outsideScenarios } from './scenarios/external.ts';
import { limitScenarios } from './scenarios/limits.ts';
import { partyScenarios } from './scenarios/parties.ts';
import { streamScenarios } from './scenarios/streams.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...streamScenarios,
  ...callScenarios,
  ...limitScenarios,
  ...elementScenarios,
  ...dialScenarios,
  ...partyScenarios,
  ...outsideScenarios,
  ...campaignScenarios,
  ...crowdScenarios,
];
