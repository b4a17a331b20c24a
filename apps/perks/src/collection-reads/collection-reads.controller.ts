import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { AllowQueryKey, CurrentCaller, Roles } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiLanguage, ApiProblems } from '@perkway/platform';
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
@Controller('perk-collections')
export class CollectionReadsController {
  constructor(
    private readonly collections: CollectionStore,
    private readonly reads: CollectionReadsService,
    private readonly views: ViewsService,
  ) {}

  @Get()
  @ApiOperation({
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
  async listPerkCollections(@CurrentCaller() caller: Caller): Promise<string[]> {
    return this.collections.idsOwnedBy(caller.account);
  }

  @Get(':collectionId')
  @ApiOperation({
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
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND')
  async getPerkCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const filters = readFilters(request.query);
    const collection = await this.find(request);
    const template = this.reads.collection(collection, filters, preferenceOf(request));
    await this.respond(request, reply, collection, template);
  }

  @Get(':collectionId/perk/:perkId')
  @ApiOperation({
    summary: 'One perk of a collection with a fresh click_url; counts as a view of it',
  })
  @ApiCollectionId()
  @ApiPerkId()
  @ApiLanguage()
  @ApiViewTracking()
  @ApiAttributes()
  @ApiContent({ $ref: getSchemaPath(PerkResponse) }, PERK_EXAMPLES, 'The perk')
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND', 'PERK_NOT_FOUND')
  async getPerkOfCollection(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const collection = await this.find(request);
    const placed = perkIn(collection, request.params.perkId);
    await this.respond(
      request,
      reply,
      collection,
      this.reads.perk(collection, placed, preferenceOf(request)),
    );
  }

  @Get(':collectionId/categories')
  @ApiOperation({
    summary: 'The categories of all perks of a collection, sorted by id; does not count as a view',
  })
  @ApiCollectionId()
  @ApiLanguage()
  @ApiContent(
    { type: 'array', items: { $ref: getSchemaPath(CategoryResponse) } },
    { categories: { value: CATEGORY_EXAMPLES } },
    'The categories',
  )
  @ApiProblems('VALIDATION_FAILED', 'COLLECTION_NOT_FOUND')
  async getPerkCollectionCategories(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const collection = await this.find(request);
    await this.respond(request, reply, collection, this.reads.categories(collection, preferenceOf(request)));
  }

  private find({ caller, params }: ReadRequest): Collection | Promise<Collection> {
    requireIds(params);
    return this.collections.ofCaller(caller!, params.collectionId);
  }

  private async respond(
    request: ReadRequest,
    reply: FastifyReply,
    collection: Collection,
    template: ResponseTemplate,
  ): Promise<void> {
    const view = this.views.record(request, collection, template.shownPerks);
    // The view must be durable before the response is sent.
    if (view) await view;
    sendResponse(request, reply, template, this.reads);
  }
}
