/** Runs one scenario with one seed. A failure contains the command to reproduce it. */
import { World, type WorldOptions } from './world.ts';

export interface Scenario {
  /** Rule that the scenario tests. */
  readonly title: string;
  readonly options?: WorldOptions;
  readonly play: (world: World) => Promise<void>;
}

/** Number of story lines shown with a failure. */
const STORY_LINES = 60;

/** Runs the scenario and returns its story, line by line; equal for equal seeds. */
export async function run(scenario: Scenario, seed: number): Promise<readonly string[]> {
  const world = await World.open(seed, scenario.options);
  try {
    await scenario.play(world);
    await world.close();
    return world.story;
  } catch (error) {
    const story = world.story.slice(-STORY_LINES).join('\n');
    const again = `SIM_SEED=${seed} SIM_RUNS=1 npx vitest run test/sim -t '${scenario.title}'`;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${message}\n${story}\nagain: ${again}`, { cause: error });
  } finally {
    await world.dispose();
  }
}
