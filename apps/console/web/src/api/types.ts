import type { AnswerOf, Documents, InputOf } from '@perkway/client';
import type { operations as Own } from '@perkway/console/documents';

// Types of the hosts' and the console's responses, from their OpenAPI documents: the type check fails where a screen
// uses something that changed.

type Item<Page> = Page extends { data: (infer Entry)[] } ? Entry : never;
/** The body of a PUT, without the id in its path. */
type Body<Operation, Ids extends string> = Omit<InputOf<Operation>, Ids | 'ifMatch'>;

type Perks = Documents['perks'];
export type Perk = AnswerOf<Perks['getPerkOfCollection']>;
export type Category = AnswerOf<Perks['getStoredCategory']>;
export type StoredPerk = AnswerOf<Perks['getStoredPerk']>;
export type StoredCollection = AnswerOf<Perks['getStoredPerkCollection']>;
export type Place = Perk['relations']['locations'][number];
export type PutCategory = Body<Perks['putCategory'], 'id'>;
export type PutPerk = Body<Perks['putPerk'], 'perkId'>;
export type PutCollection = Body<Perks['putPerkCollection'], 'collectionId'>;

type Boost = Documents['boost'];
export type Campaign = AnswerOf<Boost['getCampaign']>;
export type StoredCampaign = AnswerOf<Boost['getStoredCampaign']>;
export type PutCampaign = Body<Boost['putCampaign'], 'campaignId'>;

type Gift = Documents['gift'];
export type Pool = AnswerOf<Gift['getGiftCardPool']>;
export type Inventory = Pool['inventories'][number];
export type StoredPool = AnswerOf<Gift['getStoredGiftCardPool']>;
export type PutPool = Body<Gift['putGiftCardPool'], 'poolId'>;
export type Product = NonNullable<PutPool['product']>;
export type CodeFormat = NonNullable<Product['code_format']>;
export type CardLoadReport = AnswerOf<Gift['loadGiftCards']>;
export type CardCheck = AnswerOf<Gift['checkGiftCards']>;
export type RowReport = CardCheck['rejected_rows'][number];
export type CardLoad = AnswerOf<Gift['getGiftCardLoad']>;
export type Withdrawal = AnswerOf<Gift['getWithdrawal']>;
export type WithdrawalCheck = AnswerOf<Gift['checkWithdrawal']>;
export type WithdrawCards = Body<Gift['withdrawCards'], 'poolId' | 'idempotencyKey'>;
export type RewardLink = AnswerOf<Gift['getIssuedRewardLink']>;
export type Statement = AnswerOf<Gift['getStatement']>;
export type StatementFigure = Statement['rows'][number]['opening'];
export type LinkState = RewardLink['state'];

export type Limit = AnswerOf<Gift['getStoredLimit']>;
export type LimitUsage = AnswerOf<Gift['getLimitUsage']>;
export type PutLimit = Body<Gift['putLimit'], 'limitId'>;

type Token = Documents['token'];
export type Account = AnswerOf<Token['getAccount']>;
export type Person = AnswerOf<Token['getPerson']>;
export type PutAccount = Body<Token['putAccount'], 'accountId'>;
export type ApiKey = AnswerOf<Token['listApiKeys']>[number];
export type CreatedKey = AnswerOf<Token['createApiKey']>;
export type Erasure = AnswerOf<Token['getErasure']>;
export type KeyRole = ApiKey['role'];
export type KeyScope = NonNullable<ApiKey['scopes']>[number];

type Feed = Documents['events'];
export type FeedPage = AnswerOf<Feed['listEvents']>;
export type FeedEvent = FeedPage['data'][number];
export type FeedEventType = FeedEvent['type'];
export type Webhook = AnswerOf<Feed['getWebhook']>;
export type PutWebhook = Body<Feed['putWebhook'], 'webhookId'>;
export type WebhookSecret = AnswerOf<Feed['rotateWebhookSecret']>;
export type Replay = AnswerOf<Feed['replayWebhook']>;
export type Delivery = Item<AnswerOf<Feed['listWebhookDeliveries']>>;
export type DeliveryState = Delivery['state'];

export type Cube = AnswerOf<Documents['analytics']['getMeta']>['cubes'][number];

export type Session = AnswerOf<Own['getSession']>;
export type SignInWays = AnswerOf<Own['getSignInOptions']>;
export type LinkJob = AnswerOf<Own['getLinkJob']>;
export type LinkStates = AnswerOf<Own['countLinkStates']>;
export type LinkOfJob = AnswerOf<Own['listLinksOfJob']>['data'][number];
export type CancelledLinks = AnswerOf<Own['cancelLinksOfJob']>;
export type NearlyUsedLimit = AnswerOf<Own['getNearlyUsedLimits']>[number];
export type CreatedLinkJob = AnswerOf<Own['createLinkJob']>;
export type LinkedReferences = AnswerOf<Own['checkReferences']>;
export type AuditEntry = Item<AnswerOf<Own['listAuditLog']>>;
export type AuditQuery = Omit<NonNullable<Own['listAuditLog']['parameters']['query']>, 'limit' | 'cursor'>;
export type DataOfPerson = AnswerOf<Own['getDataOfPerson']>;
export type WebhookState = AnswerOf<Own['getWebhooksOfAccount']>[number];
export type OperatorsHome = AnswerOf<Own['getOperatorsHome']>;
export type CardStock = AnswerOf<Own['getStock']>[number];
export type LowCodes = AnswerOf<Own['getLowCodes']>[number];
export type Health = AnswerOf<Own['getHealth']>;
export type ReportSummary = Item<AnswerOf<Own['listReports']>>;
export type MadeReport = AnswerOf<Own['createReport']>;
export type FrozenReport = AnswerOf<Own['readReport']>;
export type SavedQuestion = AnswerOf<Own['listSavedQuestions']>[number];
