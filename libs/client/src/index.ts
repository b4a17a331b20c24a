export { createPerkway, type Perkway, type PerkwayHosts, type PerkwayOptions } from './create-perkway.js';
export { OPERATIONS } from './operations.js';
export { PerkwayError, type FieldProblem, type PerkwayErrorCode } from './perkway-error.js';
export type { AnswerOf, HostClient, HostName, InputOf, Paged } from './types.js';
export type { Documents } from '@perkway/client/documents';
