import { Link } from 'react-router';
import { anchorOf } from '../anchor';
import { texts } from '../texts';
import type { Alert } from './health-findings';

/** Leads to what the documentation says about an alert. */
export const WhatToDo = ({ about }: { about: Alert }) => (
  <Link to={`/documentation/operations#${anchorOf(about)}`} aria-label={texts.health.whatToDoAbout(about)}>
    {texts.health.whatToDo}
  </Link>
);
