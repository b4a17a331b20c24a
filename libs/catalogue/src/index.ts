export * from './check-catalogue.js';
export * from './differences.js';
export * from './perks-from-csv.js';
export * from './places.js';
export * from './problem.js';
export * from './read-cards.js';
export * from './resources.js';
export * from './yaml-files.js';
