// The texts of the fields of a job. Fields that a deployment has too keep the texts of the deployment where those hold.

import type { FieldTexts } from '../shapes/shape.ts'
import { deploymentTexts } from './deployment-texts.ts'
import { SECRET_READERS } from './secret-texts.ts'

export const jobTexts = {
  kind: { meaning: 'The kind of the document.', range: 'Job', example: 'Job' },
  name: {
    meaning:
      'The name of the job. Several jobs may have the same name; the id of a job is unique. The container has this name on its node, and it is the DNS name of the container for others of the tenant there.',
    range: deploymentTexts.name.range,
    example: 'migrate',
  },
  image: {
    ...deploymentTexts.image,
    meaning:
      'The image to run. It must be pinned. The server resolves the tag to a digest when the job is created, and every attempt runs that digest.',
    example: 'registry.example.com/migrate:1.4.2',
  },
  nodeId: {
    meaning: 'Runs the job on this node only.',
    absent: 'the scheduler chooses a node for each attempt',
    range: 'the id of an enrolled node of the tenant',
    example: deploymentTexts.nodeId.example,
  },
  environment: deploymentTexts.environment,
  secrets: {
    ...deploymentTexts.secrets,
    meaning: `Credentials from the secrets store. Each key of a credential is delivered to the container as the environment variable NAME_key. A reference to a secret that is not written yet is accepted; the job waits until it is written. ${SECRET_READERS}`,
  },
  volumes: {
    ...deploymentTexts.volumes,
    meaning:
      'Volumes to mount into the container. A job that mounts a volume read-write is its only writer from its creation to its end. A list with entries is rejected while volume management is disabled on the platform.',
  },
  placement: {
    ...deploymentTexts.placement,
    meaning:
      'Rules that choose the nodes on which the job may run. All rules must hold. Without a fitting node, the job stays pending; holdfast job describe ID lists the reasons for every node.',
    absent: 'every node of the tenant may run the job',
    example: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] },
  },
  resources: {
    ...deploymentTexts.resources,
    meaning:
      'The CPU and memory that the job requests on its node. The scheduler places it only where this much is free. Requests are not limits; see limits. A manifest file may use cpu and memory with units instead, as in cpu: 500m and memory: 256Mi.',
  },
  limits: deploymentTexts.limits,
  composedEnvironment: {
    ...deploymentTexts.composedEnvironment,
    example: { DATABASE_URL: 'postgres://app:{{secret.web.password}}@database:5432/app' },
  },
  networks: {
    ...deploymentTexts.networks,
    meaning:
      'Names of networks that the container joins instead of the network that all other containers of the tenant on the node share. The job runs on the node of its networks only.',
    absent: 'the container joins the network of the tenant on its node',
  },
  command: deploymentTexts.command,
  args: deploymentTexts.args,
  stopGracePeriod: {
    meaning:
      'The time that the container has to stop after the stop signal, when the job is cancelled or its timeout ends. Then it is killed with SIGKILL.',
    default: '10s',
    range: deploymentTexts.stopGracePeriod.range,
    example: '30s',
  },
  timeout: {
    meaning:
      'The longest time that the container of one attempt may run. After it the container is stopped, and the attempt has failed. The time to pull the image and start the container is limited separately, to the timeout or 15 minutes, whichever is longer.',
    default: '1h',
    range: 'a duration from 1s to 168h, which is 7 days',
    example: '15m',
  },
  retries: {
    meaning:
      'How many further attempts follow a failed one. An attempt fails if the exit code is not 0, the timeout ends, or the container cannot be created. The time between attempts starts at 1 second, doubles, and is at most 60 seconds.',
    default: 0,
    range: 'a whole number from 0 to 10',
    example: 3,
  },
  onNodeLoss: {
    meaning:
      'The reaction to the loss of the node on which the job runs. wait: the job stays running until the node returns and reports its end, or is removed by force. retry: another attempt starts elsewhere as soon as the node is declared failed, beside those that retries allows; the first container may still run.',
    default: 'wait',
    range: 'wait or retry',
    example: 'retry',
  },
} satisfies FieldTexts
