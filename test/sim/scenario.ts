/** Runs one scenario of one seed; a failure tells how to see it again. */
import { World, type WorldOptions } from './world.ts';

export interface Scenario {
  /** The rule that it shows. */
  readonly title: string;
  readonly options?: WorldOptions;
  readonly play: (world: World) => Promise<void>;
}

/** How much of what happened a failure shows. */
const STORY_LINES = 60;

/** What happened, line by line: the same for the same seed. */
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
