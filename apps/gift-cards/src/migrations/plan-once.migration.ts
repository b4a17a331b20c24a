import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaceViewsAndFunctions } from './views-and-functions.js';

/** Functions that keep their plans whatever the tables held when they were made, and a cheaper view of the numbers. */
export class PlanOnce1767225620000 implements MigrationInterface {
  readonly name = 'PlanOnce1767225620000';

  up(runner: QueryRunner): Promise<void> {
    return replaceViewsAndFunctions(runner);
  }

  /** Nothing: the older ones would do the same, slower. */
  async down(): Promise<void> {}
}
