// The texts of the top-level fields of a deployment, and of its resources, update and routes.

import type { FieldTexts } from '../shapes/shape.ts'
import { SECRET_READERS } from './secret-texts.ts'

export const resourcesTexts = {
  cpuMillis: {
    meaning:
      'CPU requested for each replica, in thousandths of a core. The scheduler chooses a node with this much free CPU. The request does not limit the container; limits.cpuMillis does. A manifest file may use cpu instead, as in cpu: 250m.',
    default: 0,
    range: 'a whole number, 0 or greater; 1000 is one core',
    example: 250,
  },
  memoryBytes: {
    meaning:
      'Memory requested for each replica, in bytes. The scheduler chooses a node with this much free memory. The request does not limit the container; limits.memoryBytes does. A manifest file may use memory instead, as in memory: 256Mi.',
    default: 0,
    range: 'a whole number, 0 or greater',
    example: 268_435_456,
  },
} satisfies FieldTexts

export const limitsTexts = {
  cpuMillis: {
    meaning:
      'The most CPU that one container may use, in thousandths of a core. The engine slows the container down at the limit. A manifest file may use cpu instead, as in cpu: 0.5 for half a core.',
    absent: 'CPU is not limited',
    range: 'a whole number, 0 or greater; 0 means no limit',
    example: 1000,
  },
  memoryBytes: {
    meaning:
      'The most memory that one container may use, in bytes. A container that needs more is killed and started again. A manifest file may use memory instead, as in memory: 512Mi.',
    absent: 'memory is not limited',
    range: 'a whole number, 6291456 (6 MiB) or greater; 0 means no limit',
    example: 536_870_912,
  },
} satisfies FieldTexts

export const updateTexts = {
  order: {
    meaning:
      'Whether an update starts the new replica before it stops the old one. start-first keeps the number of ready replicas. stop-first needs no room for a second container and leaves a gap; use it if two containers must never run at once.',
    default: 'start-first',
    range: 'start-first or stop-first',
    example: 'stop-first',
  },
  parallelism: {
    meaning: 'How many replicas an update replaces at the same time.',
    default: 1,
    range: 'a whole number from 1 to {maxReplicasPerDeployment}',
    example: 2,
  },
  failureAction: {
    meaning:
      'The reaction to a failed update. An update fails when a new replica becomes unhealthy, exits three times, could not be created or started in three attempts, or is not ready before the progress deadline. rollback returns to the last revision that worked; the stored manifest stays the failed one. pause stops where it is and keeps the failed replica for inspection, until you apply another revision.',
    default: 'rollback',
    range: 'rollback or pause',
    example: 'pause',
  },
  progressDeadline: {
    meaning:
      'The longest time that an update may pass without another ready replica. After it, the update fails and failureAction decides. Time spent waiting for dependsOn does not count.',
    default: '300s',
    range: 'a duration above 0s and of at most {durationMs}',
    example: '120s',
  },
} satisfies FieldTexts

export const routeTexts = {
  host: {
    meaning:
      'The host name whose requests reach the replicas. DNS must resolve it to nodes of the tenant; any of them forwards the request. Within a tenant, a host and path belong to one deployment.',
    range: 'a lowercase DNS name without wildcard and port, at most 253 characters',
    example: 'shop.example.com',
  },
  path: {
    meaning:
      'The path prefix of the route. /api matches /api and /api/x, not /apix. If several paths match a request, the longest one is used. Letter case is ignored.',
    default: '/',
    range:
      '/ or a path such as /api/v1: letters, digits, "-", ".", "_" and "~" between slashes, no slash at its end, at most 1024 characters',
    example: '/api',
  },
  port: {
    meaning: 'The port on which the container listens. It is not published on the machine.',
    range: 'a whole number from 1 to 65535',
    example: 8080,
  },
} satisfies FieldTexts

export const volumeMountTexts = {
  volume: {
    meaning: 'The id of the volume to mount.',
    range: 'the typed id of a volume: vol_ and 26 characters',
    example: 'vol_01JCPZ0000000000000000000A',
  },
  target: {
    meaning: 'Where the container sees the volume. Each target may be used once in a deployment.',
    range: 'an absolute, normal path inside the container',
    example: '/var/lib/data',
  },
  type: {
    meaning:
      'How the volume is mounted. A tmpfs is empty after every start of the container and holds no lasting data.',
    range: 'volume, bind or tmpfs',
    example: 'volume',
  },
  readOnly: {
    meaning: 'Whether the container may only read the volume.',
    default: false,
    range: 'true or false',
    example: true,
  },
} satisfies FieldTexts

export const deploymentTexts = {
  kind: {
    meaning: 'The kind of the document.',
    range: 'Deployment',
    example: 'Deployment',
  },
  name: {
    meaning:
      'The name of the deployment, unique in its tenant. It cannot be changed later. It is also the DNS name under which other containers of the tenant on the same node reach the replicas; names do not reach other nodes yet.',
    range:
      'lowercase letters, digits and hyphens, first a letter, last a letter or digit, at most {nameCharacters} characters',
    example: 'web',
  },
  image: {
    meaning:
      'The image to run. It must be pinned, so that every replica runs the same image, also after a restart. The server resolves the tag to a digest when you apply the manifest, and containers are created from that digest.',
    range:
      'an image reference with a tag other than latest or with a digest, from a registry that the platform allows',
    example: 'registry.example.com/web:1.4.2',
  },
  replicas: {
    meaning:
      'How many containers to run. 0 stops the deployment and keeps its record, routes and secrets. Changing the number restarts nothing.',
    default: 1,
    range: 'a whole number from 0 to {maxReplicasPerDeployment}',
    example: 3,
  },
  nodeId: {
    meaning:
      'Runs all replicas on this node only. Prefer placement, which leaves the scheduler a choice when a node fails.',
    absent: 'the scheduler chooses a node for each replica',
    range: 'the id of an enrolled node of the tenant that accepts new work',
    example: 'node_01M7G5DG4SYX5MS1T6K9D9GMHK',
  },
  healthCheck: {
    meaning:
      'A command that reports whether a container is healthy. A replica is ready when the check first passes; an update waits for that, and routes send requests only to ready replicas. The health check of the image is ignored.',
    absent: 'a replica is ready when its container has run for 5 seconds',
    range: 'an object with type and command',
    example: {
      type: 'exec',
      command: ['wget', '-q', '-O', '-', 'http://127.0.0.1:8080/healthz'],
      interval: '10s',
      timeout: '10s',
      retries: 3,
    },
  },
  environment: {
    meaning:
      'Environment variables with constant values, by name. They are stored and shown in plain text, so a value that looks like a credential is rejected; use secrets for it. Values are strings: write numbers in quotes.',
    absent: 'no constant variables are set',
    range:
      'at most {environmentEntries} variables and {environmentBytes} bytes; names of letters, digits and "_", first not a digit',
    example: { LOG_LEVEL: 'info', PORT: '8080' },
  },
  secrets: {
    meaning: `Credentials from the secrets store. Each key of a credential is delivered to the containers as the environment variable NAME_key. A reference to a secret that is not written yet is accepted; until the secret is written, no container is created and the phase is Degraded (secret_unresolved). ${SECRET_READERS}`,
    default: [],
    range: 'at most {secrets} entries, each with its own name',
    example: [{ name: 'DB', vault_path: 'deployments/web', anchor: 'external', rotation: 'restart' }],
  },
  secretsVersion: {
    meaning:
      'Counts the rotations of the secrets of this deployment. Only the server changes it; a number that you send is ignored.',
    default: 0,
    range: 'a whole number, 0 or greater',
    example: 0,
  },
  volumes: {
    meaning:
      'Volumes to mount into each container. A list with entries is rejected while volume management is disabled on the platform.',
    absent: 'nothing is mounted',
    range: 'at most {volumes} entries',
    example: [
      { volume: 'vol_01JCPZ0000000000000000000A', target: '/var/lib/data', type: 'volume', readOnly: false },
    ],
  },
  placement: {
    meaning:
      'Rules that choose the nodes on which replicas may run. All rules must hold. Without a fitting node, the deployment stays Pending or Waiting; holdfast why NAME lists the reasons for every node.',
    absent: 'every node of the tenant may run a replica',
    range: 'an object with residency, constraints, affinity, antiAffinity and spread, all optional',
    example: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }], antiAffinity: ['web'] },
  },
  dependsOn: {
    meaning:
      'Deployments that must be up before containers of this one are created, by name. healthy: all their replicas are ready, which requires a healthCheck. started: all their replicas run. It is checked when a container is created, not afterwards. It does not choose a node: to reach a dependency by its name, list it in placement.affinity too, because names do not reach other nodes yet.',
    absent: 'containers start without waiting',
    range:
      'at most {dependsOn} names of other deployments of the tenant, each with healthy or started; no cycle; at most {dependencyDepth} levels',
    example: { database: 'healthy' },
  },
  resources: {
    meaning:
      'The CPU and memory that each replica requests on its node. The scheduler places a replica only where this much is free. Requests are not limits; see limits. A manifest file may use cpu and memory with units instead, as in cpu: 500m and memory: 256Mi.',
    default: { cpuMillis: 0, memoryBytes: 0 },
    range: 'an object with cpuMillis and memoryBytes',
    example: { cpuMillis: 250, memoryBytes: 268_435_456 },
  },
  limits: {
    meaning:
      'The most that one container may use. The engine enforces it: CPU is slowed down, and a container that needs more memory is killed. A manifest file may use cpu and memory with units instead, as in cpu: 500m and memory: 256Mi.',
    absent: 'a container may use the whole machine',
    range: 'an object with cpuMillis and memoryBytes, both optional',
    example: { memoryBytes: 536_870_912 },
  },
  composedEnvironment: {
    meaning:
      'Environment variables that are built from secrets when a container is created, by name. {{secret.LABEL.KEY}} is replaced by the value; LABEL is the part of vault_path after the slash. The label must be in secrets of the same manifest. Use it to deliver a secret under any variable name.',
    absent: 'no composed variables are set',
    range:
      'at most {environmentEntries} variables, each with at least one placeholder; double braces only in placeholders',
    example: { DATABASE_URL: 'postgres://app:{{secret.web.password}}@database:5432/app' },
  },
  update: {
    meaning:
      'How an update replaces the containers of the deployment. After the last replica is ready, the update is watched for a while; a replica that fails in that time fails the update.',
    default: {
      order: updateTexts.order.default,
      parallelism: updateTexts.parallelism.default,
      failureAction: updateTexts.failureAction.default,
      progressDeadline: updateTexts.progressDeadline.default,
    },
    range: 'an object with order, parallelism, failureAction and progressDeadline, all optional',
    example: { order: 'start-first', parallelism: 2, failureAction: 'pause' },
  },
  routes: {
    meaning:
      'Hosts and paths whose HTTP requests reach the replicas. Every node of the tenant serves all routes and forwards to a node with a ready replica, so routes work across nodes.',
    absent: 'no request from outside reaches the containers',
    range: 'at most {routes} entries, each with its own host and path',
    example: [{ host: 'shop.example.com', path: '/', port: 8080 }],
  },
  networks: {
    meaning:
      'Names of networks that the containers join instead of the network that all other containers of the tenant on the node share. On each of them the name of the deployment resolves to its replicas. The deployment runs on the node of its networks only.',
    absent: 'the containers join the network of the tenant on their node',
    range: 'at most {networks} names of networks of the tenant, all on one node, each named once',
    example: ['backend'],
  },
  labels: {
    meaning:
      'Labels of your own, by key. They are stored and set on the containers, and they do not affect placement. Labels of nodes are another thing; see placement.constraints.',
    absent: 'the containers get no labels of yours',
    range:
      'at most {labels} labels; keys are name or prefix/name without a reserved prefix, values at most 253 printable ASCII characters',
    example: { team: 'shop', 'example.com/cost-center': '42' },
  },
  command: {
    meaning:
      'Replaces the entrypoint of the image: the program and its first arguments, one per element. No shell is involved; write ["sh", "-c", "..."] for one. The default arguments of the image are then ignored too; set args.',
    absent: 'the entrypoint of the image runs',
    range: 'at most {commandElements} strings without NUL characters',
    example: ['node', 'server.js'],
  },
  args: {
    meaning:
      'Replaces the default arguments of the image, called CMD in a Dockerfile. They follow the entrypoint, or command if it is set.',
    absent: 'the default arguments of the image are used, or none if command is set',
    range: 'at most {commandElements} strings without NUL characters',
    example: ['--port', '8080'],
  },
  stopGracePeriod: {
    meaning:
      'The time that a container has to stop after the stop signal. Then it is killed with SIGKILL. A routed container also finishes its requests in this time.',
    default: '10s',
    range: 'a duration of at most {stopGracePeriodMs}; parts of a second are rounded up',
    example: '30s',
  },
} satisfies FieldTexts
