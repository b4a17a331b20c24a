import { bootstrap } from '@perkway/platform';
import { linksApp } from './app.js';

await bootstrap(() => linksApp());
