import { Module } from '@nestjs/common';
import { SavedQuestionsController } from './saved-questions.controller.js';
import { SavedQuestionsService } from './saved-questions.service.js';

@Module({
  controllers: [SavedQuestionsController],
  providers: [SavedQuestionsService],
  exports: [SavedQuestionsService],
})
export class SavedQuestionsModule {}
