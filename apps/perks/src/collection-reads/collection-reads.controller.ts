import { Controller, Get, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, type AuthenticatedRequest } from '@perkway/auth';
import { invalidField, isCallerId, readCustomAttributes, type Caller } from '@perkway/domain';
import { ApiProblems } from '@perkway/platform';
import { ApiAttributes, newEventId, TrackingService } from '@perkway/tracking';
import type { FastifyReply } from 'fastify';
import type { Collection } from '../catalog/collection.js';
import type { LanguageWish } from '../text/language.js';
import type { AnswerTemplate } from './answer-template.js';
import {
  ApiCollectionId,
  ApiContent,
  ApiFilters,
  ApiLanguage,
  ApiPerkId,
  ApiQueryKey,
  ApiViewTracking,
  CATEGORY_EXAMPLES,
  COLLECTION_EXAMPLE,
  PERK_EXAMPLES,
} from './api-docs.js';
import { isUnchanged } from './conditional.js';
import { lastOf, readFilters } from './perk-filters.js';
import { CategoryResponse, PerkCollectionResponse, PerkResponse } from './collection-reads.dto.js';
import { CollectionReadsService } from './collection-reads.service.js';
import { perkView } from './perk-view.js';

/**
 * The reads take what they need from the request themselves: each decorated parameter sends its value through the
 * pipes of the application, which together cost as much as the reading.
 */
type ReadRequest = AuthenticatedRequest & {
  params: { collectionId: string; perkId: string };
  query: Record<string, string | string[] | undefined>;
};

const hasAny = (query: object): boolean => {
  for (const _ in query) return true;
  return false;
};

const requireIds = (ids: Partial<ReadRequest['params']>): void => {
  for (const name of ['collectionId', 'perkId'] as const)
    if (ids[name] !== undefined && !isCallerId(ids[name]))
      throw invalidField(name, 'must have 1 to 100 characters of A-Z a-z 0-9 . _ -');
};

const wishOf = ({ query, headers }: ReadRequest): LanguageWish => ({
  lang: lastOf(query.lang),
  acceptLanguage: headers['accept-language'],
});

@ApiTags('Perk collections')
@ApiSecurity('apiKey')
@ApiQueryKey()
@ApiExtraModels(PerkCollectionResponse, PerkResponse, CategoryResponse)
@AllowQueryKey()
@Controller('perk-collections')
export class CollectionReadsController {
  constructor(
    private readonly reads: CollectionReadsService,
    private readonly tracking: TrackingService,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listPerkCollections',
    summary: 'The ids of the collections the key can access',
  })
  @ApiResponse({
    status: 200,
    description: 'Ids, ascending',
    content: {
      'application/json': {
        schema: { type: 'array', items: { type: 'string' } },
        examples: { collections: { value: ['ostervale-dining', 'ostervale-travel'] } },
      },
    },
  })
  @ApiProblems('API_KEY_INVALID', 'TOO_MANY_REQUESTS', 'DEPENDENCY_UNAVAILABLE')
  async list(@CurrentCaller() caller: Caller): Promise<string[]> {
    return this.reads.list(caller);
  }

  @Get(':collectionId')
  @ApiOperation({
    operationId: 'getPerkCollection',
    summary: 'A collection with its groups and perks; counts as a view of the perks shown',
  })
  @ApiCollectionId()
  @ApiFilters()
  @ApiLanguage()
  @ApiViewTracking()
  @ApiAttributes()
  @ApiContent(
    { $ref: getSchemaPath(PerkCollectionResponse) },
    { collection: { value: COLLECTION_EXAMPLE } },
    'The collection',
  )
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'COLLECTION_NOT_FOUND',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async getPerkCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const filters = readFilters(request.query);
    const collection = await this.find(request);
    const template = this.reads.collection(collection, filters, wishOf(request));
    await this.answer(request, reply, collection, template);
  }

  @Get(':collectionId/perk/:perkId')
  @ApiOperation({
    operationId: 'getPerkOfCollection',
    summary: 'One perk of a collection with a fresh click_url; counts as a view of it',
  })
  @ApiCollectionId()
  @ApiPerkId()
  @ApiLanguage()
  @ApiViewTracking()
  @ApiAttributes()
  @ApiContent({ $ref: getSchemaPath(PerkResponse) }, PERK_EXAMPLES, 'The perk')
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'COLLECTION_NOT_FOUND',
    'PERK_NOT_FOUND',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async getPerkOfCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const collection = await this.find(request);
    const placed = this.reads.findPerk(collection, request.params.perkId);
    await this.answer(request, reply, collection, this.reads.perk(collection, placed, wishOf(request)));
  }

  @Get(':collectionId/categories')
  @ApiOperation({
    operationId: 'getPerkCollectionCategories',
    summary: 'The categories of all perks of a collection, by id; no view',
  })
  @ApiCollectionId()
  @ApiLanguage()
  @ApiContent(
    { type: 'array', items: { $ref: getSchemaPath(CategoryResponse) } },
    { categories: { value: CATEGORY_EXAMPLES } },
    'The categories',
  )
  @ApiProblems(
    'VALIDATION_FAILED',
    'API_KEY_INVALID',
    'COLLECTION_NOT_FOUND',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async getPerkCollectionCategories(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const collection = await this.find(request);
    await this.answer(request, reply, collection, this.reads.categories(collection, wishOf(request)));
  }

  private find({ caller, params }: ReadRequest): Collection | Promise<Collection> {
    requireIds(params);
    return this.reads.find(caller!, params.collectionId);
  }

  /**
   * A 304 is a view as well: the customers of a client that revalidates its copy see the perks just the same, and a
   * content sync suppresses the view by its header in both cases (docs/adr/0010-conditional-reads.md).
   */
  private async answer(
    request: ReadRequest,
    reply: FastifyReply,
    collection: Collection,
    template: AnswerTemplate,
  ): Promise<void> {
    const { headers, method, query } = request;
    const isHead = method === 'HEAD';
    const isSuppressed = (headers['x-disable-view-tracking'] as string | undefined)?.toLowerCase() === 'true';
    if (!isHead && !isSuppressed && template.shownPerks !== undefined)
      // Before the answer leaves, the view is durable.
      await this.tracking.trackSerialized(
        perkView(
          newEventId(),
          collection,
          template.shownPerks,
          hasAny(query) ? readCustomAttributes(query) : undefined,
        ),
      );
    void reply.headers({
      'content-language': template.language,
      etag: template.etag,
      vary: 'Accept-Language',
      'cache-control': 'private, no-cache',
    });
    if (isUnchanged(headers['if-none-match'], template.etag)) {
      void reply.code(304).send();
      return;
    }
    void reply.header('content-type', 'application/json; charset=utf-8');
    if (isHead) {
      void reply.send(template.blank);
      return;
    }
    const { body, release } = this.reads.fetch(template);
    // Handed over to the system as a whole. Of a broken connection nobody says when its memory is let go.
    if (release) reply.raw.once('finish', release);
    void reply.send(body);
  }
}
