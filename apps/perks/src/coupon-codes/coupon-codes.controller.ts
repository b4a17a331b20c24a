import { Body, Controller, Param, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import { ApiError, type Caller } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { CollectionStore } from '../catalog/collection-store.js';
import { perkIn } from '../catalog/collection.js';
import { AllocateCouponCodeDto, AllocatedCouponCode } from './coupon-code.dto.js';
import { CouponCodesService } from './coupon-codes.service.js';

@ApiTags('Perk collections')
@RequiredScope('perks:read')
@Controller('perk-collections/:collectionId/perk/:perkId/coupon')
export class CouponCodesController {
  constructor(
    private readonly collections: CollectionStore,
    private readonly codes: CouponCodesService,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Allocate a single-use code to a customer, or get the one already allocated',
  })
  @ApiResponse({ status: 201, description: 'A code was allocated', type: AllocatedCouponCode })
  @ApiResponse({
    status: 200,
    description: 'The code already allocated to this customer',
    type: AllocatedCouponCode,
  })
  @ApiProblems('PERK_HAS_NO_CODES', 'COLLECTION_NOT_FOUND', 'PERK_NOT_FOUND', 'NO_AVAILABLE_CODES')
  async allocateCouponCode(
    @CurrentCaller() caller: Caller,
    @Param('collectionId', CallerIdPipe) collectionId: string,
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() { customer_id }: AllocateCouponCodeDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AllocatedCouponCode> {
    const collection = await this.collections.ofCaller(caller, collectionId);
    const { perk } = perkIn(collection, perkId);
    if (!perk.is_coupon_perk) throw new ApiError('PERK_HAS_NO_CODES');
    const { allocated, isNew } = await this.codes.allocate(caller, perkId, customer_id);
    void reply.code(isNew ? 201 : 200).header('cache-control', 'no-store');
    return allocated;
  }
}
