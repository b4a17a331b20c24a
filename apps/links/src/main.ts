import { bootstrap } from '@perkway/platform';
import { linksApp } from './links.app.js';

await bootstrap(() => linksApp());
