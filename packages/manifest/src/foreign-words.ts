// The names that Kubernetes, Compose and habit use for a field, and what to write instead. The first key is the object in
// which the name is found, as a path without indexes.

interface Words {
  readonly [name: string]: string
}

/** A field of the same object. */
const is = (field: string): string => `use ${field}`

const ENVIRONMENT = 'use environment, a map of variable names to strings'
const ROUTES =
  'use routes, a list of host, path and port; a port that only other containers use needs no field'
const TOP_LEVEL = 'write its fields at the top level of the document; there is no such wrapper'
const CHECK = 'use healthCheck with type: exec and a command that runs inside the container'
const RESTARTED = 'remove it: a container that exits is always started again'
const CONSTRAINTS = 'use placement.constraints, a list of label, operator and values'
const PRIVILEGES = 'remove it: containers run without extra privileges'
const ONE_CONTAINER =
  'a deployment has one container: write its image, command and environment at the top level'
const NETWORK =
  'remove it: the containers of a tenant on one node share a network, and networks names networks of their own'
const PULLED = 'remove it: an image is pinned to a digest and pulled if the node does not have it'
const REQUESTS = 'use resources.cpu and resources.memory'
const LIMITS = 'use limits.cpu and limits.memory, at the top level'
const ENVIRONMENT_FILE = 'write constants in environment, and credentials in secrets'
const COUNTRIES =
  'use country for one country, or region for a named list of countries; holdfast get regions lists them'
const UPDATE = 'use update, with order, parallelism, failureAction and progressDeadline'

const TOP: Words = {
  ...{
    apiVersion: 'remove it: kind and name identify a manifest',
    metadata: 'write name and labels at the top level',
  },
  ...{ spec: TOP_LEVEL, template: TOP_LEVEL, selector: 'remove it: a deployment selects its own containers' },
  ...{
    deploy: 'write replicas, resources, limits, placement and update at the top level',
    services: TOP_LEVEL,
  },
  ...{
    containers: ONE_CONTAINER,
    container: ONE_CONTAINER,
    initContainers: ONE_CONTAINER,
    sidecars: ONE_CONTAINER,
  },
  ...{ env: ENVIRONMENT, envs: ENVIRONMENT, vars: ENVIRONMENT, variables: ENVIRONMENT },
  ...{
    env_file: ENVIRONMENT_FILE,
    envFrom: ENVIRONMENT_FILE,
    configs: ENVIRONMENT_FILE,
    configMap: ENVIRONMENT_FILE,
  },
  ...{ ports: ROUTES, port: ROUTES, expose: ROUTES, domains: ROUTES, domain: ROUTES, ingress: ROUTES },
  ...{ restart: RESTARTED, restartPolicy: RESTARTED, restart_policy: RESTARTED },
  ...{ volumeMounts: is('volumes'), mounts: is('volumes'), tmpfs: is('volumes'), entrypoint: is('command') },
  ...{ cmd: is('command'), run: is('command'), arguments: is('args'), container_name: is('name') },
  ...{ hostname: 'use name: containers reach one another by the name of the deployment' },
  ...{ livenessProbe: CHECK, readinessProbe: CHECK, startupProbe: CHECK, probe: CHECK, health: CHECK },
  ...{
    needs: is('dependsOn'),
    requires: is('dependsOn'),
    dependencies: is('dependsOn'),
    links: is('dependsOn'),
  },
  ...{ network: is('networks'), network_mode: NETWORK, hostNetwork: NETWORK, dns: NETWORK },
  ...{
    nodeSelector: CONSTRAINTS,
    constraints: CONSTRAINTS,
    tolerations: CONSTRAINTS,
    nodeName: is('nodeId'),
  },
  ...{ node: is('nodeId'), topologySpreadConstraints: 'use placement.spread, the key of a node label' },
  ...{ residency: 'use placement.residency', region: 'use placement.residency.region' },
  ...{
    cpus: LIMITS,
    cpu: REQUESTS,
    memory: REQUESTS,
    mem_limit: LIMITS,
    mem_reservation: REQUESTS,
    requests: REQUESTS,
  },
  ...{ cpuMillis: 'use resources.cpuMillis', memoryBytes: 'use resources.memoryBytes' },
  ...{
    instances: is('replicas'),
    count: is('replicas'),
    scale: is('replicas'),
    desiredCount: is('replicas'),
  },
  ...{
    strategy: UPDATE,
    updateStrategy: UPDATE,
    update_config: UPDATE,
    rollingUpdate: UPDATE,
    rollback_config: UPDATE,
  },
  ...{ terminationGracePeriodSeconds: 'use stopGracePeriod, a duration such as 30s' },
  ...{ imagePullPolicy: PULLED, pull_policy: PULLED, platform: 'remove it: the image decides the platform' },
  ...{ imagePullSecrets: 'remove it: store the credential of the registry with holdfast registry login' },
  ...{
    build: 'build and push the image first; image names it',
    tag: 'write the tag in image, as in registry/name:tag',
  },
  ...{
    securityContext: PRIVILEGES,
    privileged: PRIVILEGES,
    cap_add: PRIVILEGES,
    user: PRIVILEGES,
    devices: PRIVILEGES,
  },
  ...{ annotations: is('labels'), tags: is('labels'), credentials: is('secrets') },
  ...{ '<<': 'merge keys are not supported; repeat the fields, or use an alias for a whole value' },
}

const COMMAND =
  'use command, with type: exec; one element is a shell command line, several are a program and its arguments'

const CHECKS: Words = {
  ...{
    test: COMMAND,
    cmd: COMMAND,
    exec: COMMAND,
    httpGet: COMMAND,
    tcpSocket: COMMAND,
    grpc: COMMAND,
    path: COMMAND,
  },
  ...{ periodSeconds: 'use interval, a duration such as 10s', period: is('interval'), every: is('interval') },
  ...{
    timeoutSeconds: 'use timeout, a duration such as 10s',
    failureThreshold: is('retries'),
    attempts: is('retries'),
  },
  ...{ initialDelaySeconds: 'use startPeriod, a duration such as 30s', gracePeriod: is('startPeriod') },
}

const RESOURCES: Words = {
  ...{
    requests: 'write cpu and memory directly in resources',
    reservations: 'write cpu and memory directly in resources',
  },
  ...{ limits: 'limits is a field at the top level', cpus: is('cpu'), mem: is('memory'), ram: is('memory') },
}

export const FOREIGN_WORDS: { readonly [object: string]: Words } = {
  '': TOP,
  healthCheck: CHECKS,
  resources: RESOURCES,
  limits: RESOURCES,
  routes: {
    ...{ domain: is('host'), hostname: is('host'), name: is('host'), url: 'use host and path' },
    ...{ prefix: is('path'), pathPrefix: is('path'), targetPort: is('port'), containerPort: is('port') },
    ...{
      target: is('port'),
      published: 'remove it: routes are served on the ports of the proxy',
      tls: 'remove it',
    },
  },
  volumes: {
    ...{
      source: is('volume'),
      id: is('volume'),
      name: is('volume'),
      mountPath: is('target'),
      path: is('target'),
    },
    ...{ destination: is('target'), mount_path: is('target'), ro: is('readOnly') },
  },
  secrets: {
    ...{
      path: is('vault_path'),
      secretName: is('vault_path'),
      source: is('vault_path'),
      key: is('vault_path'),
    },
    ...{ value: is('values'), data: is('values'), env: is('name'), prefix: is('name') },
  },
  placement: {
    ...{
      nodeSelector: is('constraints'),
      labels: is('constraints'),
      nodes: is('constraints'),
      topology: is('spread'),
    },
    ...{ region: 'use residency.region', country: 'use residency.country', preferences: is('spread') },
  },
  'placement.residency': {
    countries: COUNTRIES,
    allowedCountries: COUNTRIES,
    regions: 'use region, the name of one region; holdfast get regions lists them',
    excludedCountries: is('blockedCountries'),
  },
  'placement.constraints': { key: is('label'), name: is('label'), op: is('operator'), value: is('values') },
  update: {
    ...{
      maxUnavailable: is('parallelism'),
      maxSurge: 'use order: start-first',
      maxParallel: is('parallelism'),
    },
    ...{
      type: is('order'),
      strategy: is('order'),
      failure_action: is('failureAction'),
      timeout: is('progressDeadline'),
    },
    ...{ progressDeadlineSeconds: 'use progressDeadline, a duration such as 300s', delay: 'remove it' },
  },
}
