import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { CALLER_ID_PATTERN } from '@perkway/domain';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CouponCodeStock, LoadCouponCodesDto, LoadedCouponCodes } from './coupon-code.dto.js';
import { CouponCodesService } from './coupon-codes.service.js';

@ApiTags('Management')
@ApiSecurity('apiKey')
@ApiParam({
  name: 'perkId',
  schema: { type: 'string', pattern: CALLER_ID_PATTERN },
  example: 'quillon-alpine-spa',
})
@Roles('ADMIN')
@Controller('admin/perks/:perkId/coupon-codes')
export class AdminCouponCodesController {
  constructor(private readonly codes: CouponCodesService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ operationId: 'loadCouponCodes', summary: 'Adds single-use codes to the stock of a perk' })
  @ApiResponse({ status: 200, description: 'How many are new', type: LoadedCouponCodes })
  @ApiProblems(
    'VALIDATION_FAILED',
    'PERK_HAS_NO_CODES',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PERK_NOT_FOUND',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async loadCouponCodes(
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() { codes }: LoadCouponCodesDto,
  ): Promise<LoadedCouponCodes> {
    return this.codes.load(perkId, codes);
  }

  @Get()
  @ApiOperation({
    operationId: 'getCouponCodeStock',
    summary: 'How many codes a perk has, and how many are left',
  })
  @ApiResponse({ status: 200, description: 'The stock', type: CouponCodeStock })
  @ApiProblems(
    'VALIDATION_FAILED',
    'PERK_HAS_NO_CODES',
    'API_KEY_INVALID',
    'FORBIDDEN',
    'PERK_NOT_FOUND',
    'TOO_MANY_REQUESTS',
    'DEPENDENCY_UNAVAILABLE',
  )
  async getCouponCodeStock(@Param('perkId', CallerIdPipe) perkId: string): Promise<CouponCodeStock> {
    return this.codes.stock(perkId);
  }
}
