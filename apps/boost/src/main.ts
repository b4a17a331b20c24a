import { bootstrap } from '@perkway/platform';
import { boostApp } from './boost.app.js';

await bootstrap(() => boostApp());
