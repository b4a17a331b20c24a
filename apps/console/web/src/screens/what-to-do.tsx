import { Link } from 'react-router';
import type { Alert } from '../alerts';
import { anchorOf } from '../anchor';
import { texts } from '../texts';

/** Leads to what the documentation says about an alert. */
export const WhatToDo = ({ about }: { about: Alert }) => (
  <Link to={`/documentation/operations#${anchorOf(about)}`}>{texts.health.whatToDo(about)}</Link>
);
