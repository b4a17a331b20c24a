import type { MigrationClass } from '@perkway/platform';
import { CreateSessions1767225700000 } from './1767225700000-create-sessions.js';
import { CreateAuditLog1767225710000 } from './1767225710000-create-audit-log.js';
import { CreateLinkJobs1767225720000 } from './1767225720000-create-link-jobs.js';
import { CreateReports1767225730000 } from './1767225730000-create-reports.js';
import { RecipientsLeaveTheAuditLog1767225740000 } from './1767225740000-recipients-leave-the-audit-log.js';
import { LinkJobApprovals1767225752000 } from './1767225752000-link-job-approvals.js';
import { AuditLogOfAllApps1767225790000 } from './1767225790000-audit-log-of-all-apps.js';
import { CreateSavedQuestions1767225802000 } from './1767225802000-create-saved-questions.js';
import { NameLinkJobs1767225799000 } from './1767225799000-name-link-jobs.js';
import { ViewAccounts1767225798000 } from './1767225798000-view-accounts.js';
import { FindAuditEntriesByObject1767225797000 } from './1767225797000-find-audit-entries-by-object.js';
import { FindAuditEntriesByOwner1767225803000 } from './1767225803000-find-audit-entries-by-owner.js';
import { FindLinkJobsThatNeedAttention1767225804000 } from './1767225804000-find-link-jobs-that-need-attention.js';
import { FindLinkJobRowsByReference1767225805000 } from './1767225805000-find-link-job-rows-by-reference.js';

export const migrations: MigrationClass[] = [
  CreateSessions1767225700000,
  CreateAuditLog1767225710000,
  CreateLinkJobs1767225720000,
  CreateReports1767225730000,
  RecipientsLeaveTheAuditLog1767225740000,
  LinkJobApprovals1767225752000,
  AuditLogOfAllApps1767225790000,
  FindAuditEntriesByObject1767225797000,
  ViewAccounts1767225798000,
  NameLinkJobs1767225799000,
  CreateSavedQuestions1767225802000,
  FindAuditEntriesByOwner1767225803000,
  FindLinkJobsThatNeedAttention1767225804000,
  FindLinkJobRowsByReference1767225805000,
];
