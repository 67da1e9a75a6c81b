process.stdout.write("simulator: nothing here yet\n");
