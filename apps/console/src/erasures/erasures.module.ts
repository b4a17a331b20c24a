import { Module } from '@nestjs/common';
import { SavedQuestionsModule } from '../saved-questions/saved-questions.module.js';
import { ErasuresController } from './erasures.controller.js';
import { PersonsController } from './persons.controller.js';
import { PersonsService } from './persons.service.js';

@Module({
  imports: [SavedQuestionsModule],
  controllers: [ErasuresController, PersonsController],
  providers: [PersonsService],
})
export class ErasuresModule {}
