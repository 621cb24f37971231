// A job as the workload of one replica, so that admission, scheduling and templates treat it by the rules of a deployment.

import {
  type ContainerTemplate,
  type DeploymentSpec,
  deploymentTexts,
  type JobSpec,
} from '@holdfast/contract'
import { containerTemplate, type Pins, type TmpfsSizes } from '../node/container-template.ts'
import { memoizeByObject } from '../scheduling/memoize.ts'

/** The spec of a deployment with one replica that has everything of the job. It is never stored. */
export const workloadSpec = memoizeByObject((job: JobSpec): DeploymentSpec => {
  const { kind: _kind, timeout: _timeout, retries: _retries, onNodeLoss: _action, ...shared } = job
  return { kind: 'Deployment', ...shared, replicas: 1, secretsVersion: 0, update: UPDATE }
})

/** No container of a job is ever replaced by an update, so the strategy has no effect. */
const UPDATE: DeploymentSpec['update'] = {
  order: 'stop-first',
  parallelism: deploymentTexts.update.default.parallelism,
  failureAction: 'pause',
  progressDeadline: deploymentTexts.update.default.progressDeadline,
}

/** The template of the containers of a job: they run once and are never started again. */
export const jobTemplate = (
  job: JobSpec,
  digest: string,
  pins: Pins = {},
  sizes: TmpfsSizes = {},
): ContainerTemplate => ({ ...containerTemplate(workloadSpec(job), digest, pins, sizes), runs: 'once' })
