# documentation that is installed
