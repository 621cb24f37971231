// The names that the OpenAPI document gives to schemas and tags. Generators of clients turn them into types and classes.

import {
  alterationShape,
  applyRecommendationShape,
  archiveEntryShape,
  attentionShape,
  auditEntryShape,
  backupRecordShape,
  backupShape,
  canaryFailureShape,
  canaryShape,
  candidateShape,
  capacityShape,
  claimShape,
  constraintShape,
  credentialRotationShape,
  cureShape,
  decisionShape,
  deletedDeploymentShape,
  deletedDivergenceShape,
  deploymentMetricsShape,
  deploymentPlanShape,
  deploymentRecordShape,
  deploymentSpecShape,
  deploymentStatusShape,
  deploymentSummaryShape,
  divergenceShape,
  divergencesShape,
  dryRunDocumentShape,
  dryRunDocumentsResultShape,
  dryRunDocumentsShape,
  dryRunShape,
  effectsShape,
  engineShape,
  enrolledShape,
  enrollmentShape,
  eventPageShape,
  execRequestShape,
  generateShape,
  healthCheckShape,
  issuedExecShape,
  issuedJoinTokenShape,
  issuedTokenShape,
  type JsonObject,
  jobRecordShape,
  jobStatusShape,
  jsonSchema,
  limitsShape,
  listedCodeShape,
  listedEventShape,
  machineContainerShape,
  meShape,
  networkShape,
  newBackupShape,
  newJoinTokenShape,
  newNetworkShape,
  newSignInShape,
  newTenantShape,
  newTokenShape,
  newVolumeShape,
  nodeMetricsShape,
  nodePatchShape,
  nodeReplicaShape,
  nodeShape,
  nodeSummaryShape,
  overviewShape,
  placementEntryShape,
  placementPlanShape,
  placementShape,
  plannedReplicaShape,
  planStepShape,
  platformShape,
  promoteCanaryShape,
  quotaListShape,
  recommendationShape,
  refusalShape,
  regionsShape,
  registryCredentialShape,
  registryShape,
  rejectionShape,
  replicaMetricsShape,
  residencyDemandShape,
  residencyEntryShape,
  residencyShape,
  resourcesShape,
  rollbackShape,
  rolloutPlanShape,
  rotateShape,
  rotationConsumerShape,
  rotationShape,
  routeShape,
  type Shape,
  type ShapeNode,
  scalingShape,
  scalingStatusShape,
  secretConsumerShape,
  secretEntryShape,
  secretReferenceShape,
  secretShape,
  secretVersionShape,
  secretWriteShape,
  secretWrittenShape,
  sentScalingShape,
  signInShape,
  signOutShape,
  snapshotShape,
  statusWithTimelineShape,
  tenantPatchShape,
  tenantShape,
  tenantSummaryShape,
  tokenShape,
  updateShape,
  volumeMountShape,
  volumePatchShape,
  volumePromotionShape,
  volumeReplicaShape,
  volumeResizeShape,
  volumeShape,
  warningShape,
  whyShape,
  writtenJobShape,
  writtenNetworkShape,
  writtenScalingShape,
  writtenShape,
  writtenVolumeShape,
} from '@holdfast/contract'
import {
  deploymentChangeShape,
  newDeploymentShape,
  newJobShape,
  sentCanaryShape,
} from '../sent-deployment.ts'

const NAMED: { readonly [name: string]: Shape<unknown> } = {
  Alteration: alterationShape,
  AuditEntry: auditEntryShape,
  Backup: backupShape,
  BackupWithContent: backupRecordShape,
  Candidate: candidateShape,
  Capacity: capacityShape,
  Constraint: constraintShape,
  Cure: cureShape,
  Deployment: deploymentRecordShape,
  DeploymentChange: deploymentChangeShape,
  DeploymentMetrics: deploymentMetricsShape,
  DeploymentPlan: deploymentPlanShape,
  DeploymentSpec: deploymentSpecShape,
  DeploymentStatus: deploymentStatusShape,
  DeploymentStatusWithTimeline: statusWithTimelineShape,
  DeploymentWritten: writtenShape,
  DeletedDeployment: deletedDeploymentShape,
  DeletedDivergence: deletedDivergenceShape,
  Divergence: divergenceShape,
  Divergences: divergencesShape,
  DryRun: dryRunShape,
  DryRunDocument: dryRunDocumentShape,
  DryRunDocuments: dryRunDocumentsShape,
  DryRunDocumentsResult: dryRunDocumentsResultShape,
  Effects: effectsShape,
  EnrolledNode: enrolledShape,
  Enrollment: enrollmentShape,
  ErrorCode: listedCodeShape,
  Event: listedEventShape,
  EventPage: eventPageShape,
  ExecRequest: execRequestShape,
  ExecTicket: issuedExecShape,
  Explanation: whyShape,
  GeneratedSecret: generateShape,
  HealthCheck: healthCheckShape,
  IssuedJoinToken: issuedJoinTokenShape,
  IssuedToken: issuedTokenShape,
  Job: jobRecordShape,
  JobStatus: jobStatusShape,
  Limits: limitsShape,
  MachineContainer: machineContainerShape,
  Me: meShape,
  NewBackup: newBackupShape,
  NewDeployment: newDeploymentShape,
  NewJob: newJobShape,
  NewJoinToken: newJoinTokenShape,
  NewTenant: newTenantShape,
  NewToken: newTokenShape,
  NewVolume: newVolumeShape,
  Network: networkShape,
  NewNetwork: newNetworkShape,
  Node: nodeShape,
  NodeChange: nodePatchShape,
  NodeClaim: claimShape,
  NodeEngine: engineShape,
  NodeMetrics: nodeMetricsShape,
  NodeResidency: residencyShape,
  Placement: placementShape,
  PlacementEntry: placementEntryShape,
  PlacementPlan: placementPlanShape,
  PlannedReplica: plannedReplicaShape,
  PlanStep: planStepShape,
  Quotas: quotaListShape,
  Refusal: refusalShape,
  Rejection: rejectionShape,
  Regions: regionsShape,
  Registry: registryShape,
  RegistryCredential: registryCredentialShape,
  ReplicaMetrics: replicaMetricsShape,
  ResidencyDemand: residencyDemandShape,
  Resources: resourcesShape,
  Revision: archiveEntryShape,
  Rollback: rollbackShape,
  Canary: canaryShape,
  CanaryFailure: canaryFailureShape,
  NewCanary: sentCanaryShape,
  PromoteCanary: promoteCanaryShape,
  RolloutPlan: rolloutPlanShape,
  Rotation: rotationShape,
  RotationConsumer: rotationConsumerShape,
  RotationOfSecret: credentialRotationShape,
  RotationStep: rotateShape,
  Route: routeShape,
  ScalingPolicy: scalingShape,
  ScalingPolicyChange: sentScalingShape,
  ScalingStatus: scalingStatusShape,
  Secret: secretShape,
  SecretConsumer: secretConsumerShape,
  SecretEntry: secretEntryShape,
  SecretReference: secretReferenceShape,
  SecretVersion: secretVersionShape,
  SecretWrite: secretWriteShape,
  SecretWritten: secretWrittenShape,
  SignIn: signInShape,
  SignInRequest: newSignInShape,
  SignOut: signOutShape,
  Attention: attentionShape,
  Decision: decisionShape,
  DeploymentSummary: deploymentSummaryShape,
  NodeReplica: nodeReplicaShape,
  NodeSummary: nodeSummaryShape,
  Overview: overviewShape,
  Platform: platformShape,
  ResidencyEntry: residencyEntryShape,
  Snapshot: snapshotShape,
  TenantSummary: tenantSummaryShape,
  Tenant: tenantShape,
  TenantChange: tenantPatchShape,
  Token: tokenShape,
  UpdatePolicy: updateShape,
  Recommendation: recommendationShape,
  RecommendationApply: applyRecommendationShape,
  Volume: volumeShape,
  VolumeChange: volumePatchShape,
  VolumeMount: volumeMountShape,
  VolumePromotion: volumePromotionShape,
  VolumeReplica: volumeReplicaShape,
  VolumeResize: volumeResizeShape,
  Warning: warningShape,
  WrittenJob: writtenJobShape,
  WrittenNetwork: writtenNetworkShape,
  WrittenScalingPolicy: writtenScalingShape,
  WrittenVolume: writtenVolumeShape,
}

/** A copy of a shape with another description has the same fields, so the fields identify what a shape describes. */
const NAMES = new Map(
  Object.entries(NAMED).flatMap(([name, shape]) => (shape.kind === 'object' ? [[shape.fields, name]] : [])),
)

export const schemaNameOf = (shape: ShapeNode): string | undefined =>
  shape.kind === 'object' ? NAMES.get(shape.fields) : undefined

export const namedShapes = (): ReadonlyMap<string, Shape<unknown>> => new Map(Object.entries(NAMED))

const refOf = (shape: ShapeNode): string | undefined => {
  const name = schemaNameOf(shape)
  return name === undefined ? undefined : `#/components/schemas/${name}`
}

/** The JSON Schema of a shape, in which shapes with a name are references. */
export const schemaFor = (shape: Shape<unknown>): JsonObject => jsonSchema(shape, refOf)

/** The schemas of all shapes with a name, each with references to the others. */
export const namedSchemas = (): { [name: string]: JsonObject } =>
  Object.fromEntries(Object.entries(NAMED).map(([name, shape]) => [name, namedSchema(shape)]))

function namedSchema(shape: Shape<unknown>): JsonObject {
  const schema = jsonSchema(shape, (inner) => (inner === shape ? undefined : refOf(inner)))
  return SENT.includes(shape) ? schema : withoutExamples(schema)
}

const SENT: readonly Shape<unknown>[] = [newDeploymentShape, deploymentChangeShape, newJobShape]

/** Examples are what a client sends. A stored record also has the defaults, so an example would not conform to it. */
const withoutExamples = (schema: JsonObject): JsonObject =>
  JSON.parse(
    JSON.stringify(schema, (key, value) => (key === 'examples' && Array.isArray(value) ? undefined : value)),
  )

interface Tag {
  readonly name: string
  readonly description: string
  /** The first words of the paths below /api/v1 that have this tag. */
  readonly paths: readonly string[]
}

const TAGS: readonly Tag[] = [
  {
    name: 'Deployments',
    description: 'Container workloads of a tenant: write, follow, explain, roll back',
    paths: ['deployments', 'archives', 'dry-run', 'exec'],
  },
  { name: 'Jobs', description: 'Containers that run to their end', paths: ['jobs'] },
  {
    name: 'Backups',
    description: 'Copies of the configuration of deployments, and their restore',
    paths: ['backups'],
  },
  { name: 'Nodes', description: 'Machines of a tenant', paths: ['nodes'] },
  { name: 'Networks', description: 'Networks of a tenant, each on one node', paths: ['networks'] },
  { name: 'Secrets', description: 'Credentials in the secrets store, never returned', paths: ['secrets'] },
  {
    name: 'Registries',
    description: 'Registries that images may come from, and their credentials',
    paths: ['registries'],
  },
  {
    name: 'Events',
    description: 'What happened, and who asked for it',
    paths: ['events', 'audit', 'changes'],
  },
  {
    name: 'Tenants',
    description: 'Tenants, their tokens and quotas, and the caller',
    paths: ['tenants', 'quotas', 'me', 'sign-in', 'overview', 'residency', 'dvm'],
  },
  {
    name: 'Platform',
    description: 'Facts about this platform: error codes, regions, metrics',
    paths: ['errors', 'scheduler', 'metrics', 'platform'],
  },
]

const PAGES_TAG = { name: 'Pages', description: 'Health, this document and the reference; without a token' }

export const OPEN_API_TAGS = [...TAGS.map(({ name, description }) => ({ name, description })), PAGES_TAG]

export const PAGES = PAGES_TAG.name

/** The tag of an endpoint's path. Throws for a path without a tag, so that no endpoint is left out of the reference. */
export function tagOf(path: string): string {
  const [word = ''] = path.replace(/^(\/api\/v1)?\//, '').split('/')
  const tag = TAGS.find(({ paths }) => paths.includes(word))
  if (tag === undefined) throw new TypeError(`no tag lists the path ${path}`)
  return tag.name
}
