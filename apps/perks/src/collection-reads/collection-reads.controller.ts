import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, RequiredScope, Roles } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiLanguage, ApiProblems, Direct } from '@perkway/platform';
import { ApiAttributes } from '@perkway/tracking';
import type { FastifyReply } from 'fastify';
import { CollectionStore } from '../catalog/collection-store.js';
import { perkIn, type Collection } from '../catalog/collection.js';
import type { ResponseTemplate } from './response-template.js';
import {
  ApiCollectionId,
  ApiContent,
  ApiFilters,
  ApiPerkId,
  ApiViewTracking,
  CATEGORY_EXAMPLES,
  COLLECTION_EXAMPLE,
  PERK_EXAMPLES,
} from './api-docs.js';
import { CategoryResponse, PerkCollectionResponse, PerkResponse } from './collection-reads.dto.js';
import { CollectionReadsService } from './collection-reads.service.js';
import { readFilters } from './perk-filters.js';
import { requireIds, preferenceOf, type ReadRequest } from './read-request.js';
import { sendResponse } from './send-response.js';
import { ViewsService } from './views.service.js';

@ApiTags('Perk collections')
@ApiExtraModels(PerkCollectionResponse, PerkResponse, CategoryResponse)
@AllowQueryKey()
@Roles('USER', 'ADMIN', 'JOURNEY')
@RequiredScope('perks:read')
@Controller('perk-collections')
export class CollectionReadsController {
  constructor(
    private readonly collections: CollectionStore,
    private readonly reads: CollectionReadsService,
    private readonly views: ViewsService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List the ids of the collections that the key can access',
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
  async listPerkCollections(@CurrentCaller() caller: Caller): Promise<string[]> {
    return this.collections.idsOwnedBy(caller.account);
  }

  @Direct()
  @Get(':collectionId')
  @ApiOperation({
    summary: 'Get a collection with its groups and perks; counts as a view of the perks shown',
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
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND')
  getPerkCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> | void {
    const filters = readFilters(request.query);
    return this.respond(request, reply, (collection) =>
      this.reads.collection(collection, filters, preferenceOf(request)),
    );
  }

  @Direct()
  @Get(':collectionId/perk/:perkId')
  @ApiOperation({
    summary: 'Get one perk of a collection with a new click_url; counts as a view of it',
  })
  @ApiCollectionId()
  @ApiPerkId()
  @ApiLanguage()
  @ApiViewTracking()
  @ApiAttributes()
  @ApiContent({ $ref: getSchemaPath(PerkResponse) }, PERK_EXAMPLES, 'The perk')
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND', 'PERK_NOT_FOUND')
  getPerkOfCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> | void {
    return this.respond(request, reply, (collection) =>
      this.reads.perk(collection, perkIn(collection, request.params.perkId), preferenceOf(request)),
    );
  }

  @Direct()
  @Get(':collectionId/categories')
  @ApiOperation({
    summary: 'List the categories of all perks of a collection, sorted by id; does not count as a view',
  })
  @ApiCollectionId()
  @ApiLanguage()
  @ApiContent(
    { type: 'array', items: { $ref: getSchemaPath(CategoryResponse) } },
    { categories: { value: CATEGORY_EXAMPLES } },
    'The categories',
  )
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND')
  getPerkCollectionCategories(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> | void {
    return this.respond(request, reply, (collection) =>
      this.reads.categories(collection, preferenceOf(request)),
    );
  }

  /** Records the view and sends the response. Waits only for the view, and for a collection that is not in memory. */
  private respond(
    request: ReadRequest,
    reply: FastifyReply,
    templateOf: (collection: Collection) => ResponseTemplate,
  ): Promise<void> | void {
    const { caller, params } = request;
    requireIds(params);
    const send = (collection: Collection) => {
      const template = templateOf(collection);
      const view = this.views.record(request, collection, template.shownPerks);
      // The view must be durable before the response is sent.
      if (view) return view.then(() => sendResponse(request, reply, template, this.reads));
      return sendResponse(request, reply, template, this.reads);
    };
    const found = this.collections.ofCaller(caller!, params.collectionId);
    return found instanceof Promise ? found.then(send) : send(found);
  }
}
