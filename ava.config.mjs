// Tests run on the output of `tsc -p test`; RINGMQ_BUILD names another output folder.
const build = process.env.RINGMQ_BUILD ?? 'build';

export default {
  files: [`${build}/test/**/*.test.js`],
  timeout: '2m',
  workerThreads: false,
};
