export const JOBS_KEY = ['link-jobs'];
