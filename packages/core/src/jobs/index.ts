export { isEndKnown } from './attempt-end.ts'
export { JOB_BODY, JOB_FIELD_RULES, JOB_LACKS, type NormalisedJob, normaliseJob } from './job-body.ts'
export { jobTemplate, workloadSpec } from './job-workload.ts'
export {
  type JobSituation,
  type JobState,
  type NextJob,
  nextJob,
  startAttempt,
  startTimeoutOf,
} from './next-job.ts'
export { type FinishedJob, jobsToRemove } from './retained-jobs.ts'
